//! A mutex is held whether or not another thread has panicked with it: a panic ends the program anyway.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The value in `mutex`.
pub fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
