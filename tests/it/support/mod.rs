//! What tests share: a runner with a temporary root and fakes on its path, servers on loopback, wheels, real Pythons.

pub mod address;
pub mod http;
pub mod index_server;
pub mod keys;
pub mod numbers;
pub mod object;
pub mod python;
pub mod said;
pub mod test;
pub mod wheel;
