//! Addresses of hosts, looked up once for all requests of a moment: forty lookups at once are a burst of which a name
//! server drops some, and the system asks again after five seconds only (resolv.conf(5), `timeout`; checked
//! 2026-11-22). A lookup that is slow is started once more. What makes an answer wrong is time: it is forgotten after a
//! minute, a failure at once.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared, select};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::core::host::mutex::held;

/// How long an answer is used.
const REMEMBERED: Duration = Duration::from_mins(1);

/// How long a lookup may take before it is started once more.
const PATIENT: Duration = Duration::from_millis(300);

type Found = Result<Vec<SocketAddr>, String>;
type Lookup = Shared<BoxFuture<'static, Found>>;

/// The lookups of one client, by host.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    known: Arc<Mutex<BTreeMap<String, (Instant, Lookup)>>>,
}

impl Names {
    /// The lookup of `host` that is under way or done, else a new one made by `look`.
    fn lookup(&self, host: &str, look: impl Fn() -> BoxFuture<'static, Found>) -> Lookup {
        let mut known = held(&self.known);
        if let Some((since, lookup)) = known.get(host) {
            let failed = lookup.peek().is_some_and(Result::is_err);
            if !failed && since.elapsed() < REMEMBERED {
                return lookup.clone();
            }
        }
        let lookup = twice([look(), look()]).boxed().shared();
        known.insert(host.to_owned(), (Instant::now(), lookup.clone()));
        lookup
    }
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let lookup = self.lookup(&host.clone(), move || ask(host.clone()).boxed());
        Box::pin(async move {
            let addresses = lookup.await?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// What the first finds, or the other, started where the first takes long: the first answer, good or bad.
fn twice([first, again]: [BoxFuture<'static, Found>; 2]) -> impl Future<Output = Found> {
    let later = async move {
        tokio::time::sleep(PATIENT).await;
        again.await
    };
    select(first, later.boxed()).map(|answer| answer.factor_first().0)
}

/// The addresses that the system gives for `host`.
async fn ask(host: String) -> Found {
    match tokio::net::lookup_host((host.as_str(), 0)).await {
        Ok(addresses) => Ok(addresses.collect()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use futures::FutureExt;
    use futures::future::{BoxFuture, join_all};

    use super::{Found, Names};

    /// A lookup that counts how often it is started. `slow`: the first never answers.
    fn counted(count: &Arc<AtomicUsize>, slow: bool, answer: Found) -> impl Fn() -> BoxFuture<'static, Found> {
        let count = count.clone();
        move || {
            let (count, answer) = (count.clone(), answer.clone());
            async move {
                let nth = count.fetch_add(1, Ordering::Relaxed);
                let wait = Duration::from_millis(if slow && nth == 0 { 60_000 } else { 5 });
                tokio::time::sleep(wait).await;
                answer
            }
            .boxed()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn many_requests_look_a_host_up_once() {
        let (names, count) = (Names::default(), Arc::new(AtomicUsize::new(0)));
        let found = vec![SocketAddr::from(([127, 0, 0, 1], 0))];
        let all = (0..40).map(|_| names.lookup("index.example", counted(&count, false, Ok(found.clone()))));
        assert!(join_all(all).await.iter().all(|one| one.as_ref() == Ok(&found)));
        assert_eq!(count.load(Ordering::Relaxed), 1);
        let slow = Arc::new(AtomicUsize::new(0));
        names.lookup("files.example", counted(&slow, true, Ok(found.clone()))).await.expect("the second answers");
        assert_eq!(slow.load(Ordering::Relaxed), 2, "one that hangs is asked once more");
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_is_not_remembered() {
        let (names, count) = (Names::default(), Arc::new(AtomicUsize::new(0)));
        for _ in 0..3 {
            let failed = names.lookup("nowhere.example", counted(&count, false, Err("no such name".to_owned()))).await;
            assert_eq!(failed, Err("no such name".to_owned()));
        }
        assert_eq!(count.load(Ordering::Relaxed), 3);
    }
}
