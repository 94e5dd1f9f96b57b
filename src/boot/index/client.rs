//! HTTP: one connection pool, bounded replies, retries for what may pass, and a count of requests and bytes.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::future::select;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_NONE_MATCH, RANGE};
use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{RequestBuilder, Response, StatusCode};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use url::Url;

use crate::boot::index::Credentials;
use crate::boot::index::answered_at::Clock;
use crate::boot::index::body::{Body, must_be_plain, too_large};
use crate::boot::index::credentials::without_login;
use crate::boot::index::dns::Names;
use crate::boot::index::exchange::{ByteSpan, HttpRequest, Reply};
use crate::boot::index::first_connection::Gates;
use crate::boot::index::headers::{max_age, part, text_of};
use crate::boot::index::hedge::{Latencies, RequestKind};
use crate::boot::index::limits::{Limits, Traffic};
use crate::boot::index::proxies::through_proxies;
use crate::boot::index::retry::{Miss, Pace, Retries, refused};
use crate::boot::index::which_index::{may_lead, redact};
use crate::core::diag::Failure;
use crate::core::host::Paths;
use crate::core::host::mounts::must_reach;
use crate::core::inspect::Flow;
use crate::core::log::Log;
use crate::core::model::Sha256;
use crate::core::model::digest::Hasher;
use crate::core::model::stated_digest::{Stated, Taken};

/// How much of a reply that is no longer needed is read to keep its connection.
const DRAINED: u64 = 128 << 10;

/// The longest that the beginning of an answer may take.
const ANSWER: Duration = Duration::from_mins(1);

/// Takes the bytes of a reply as they arrive.
pub(super) type Take<'a> = &'a mut (dyn FnMut(&[u8]) -> Flow + Send);

/// The client. Owns the only async runtime of the program.
pub struct Client {
    pub(super) http: Http,
    runtime: Option<Runtime>,
}

/// The part that tasks share.
#[derive(Clone)]
pub(super) struct Http {
    client: reqwest::Client,
    requests: Arc<AtomicU64>,
    bytes: Arc<AtomicU64>,
    credentials: Arc<Credentials>,
    /// Bounds what is under way at once, for the index's sake.
    permits: Arc<Semaphore>,
    limits: Limits,
    started: Instant,
    latencies: Arc<Latencies>,
    gates: Arc<Gates>,
    clock: Option<Arc<Clock>>,
    pub(super) log: Log,
}

impl Client {
    /// Asks as `limits` allow, their time counted from now, with `credentials` where they are wanted.
    pub fn new(credentials: Credentials, limits: Limits, log: Log) -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| Failure::world("could not start the network threads").because(&error))?;
        // What verifies certificates reads these itself, and would wait for ever where a mount is silent.
        let certificates = ["SSL_CERT_FILE", "SSL_CERT_DIR"].into_iter().filter_map(std::env::var_os);
        must_reach(&certificates.map(PathBuf::from).collect::<Vec<_>>())?;
        let client = through_proxies(reqwest::Client::builder())?
            .user_agent(concat!("colab-boot/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_secs(10))
            .read_timeout(Duration::from_secs(30))
            .redirect(Policy::custom(redirected))
            .dns_resolver(Names::default())
            .build()
            .map_err(|error| {
                Failure::world("could not set up HTTPS")
                    .because(&error)
                    .help("check SSL_CERT_FILE and the proxy variables")
            })?;
        let http = Http {
            client,
            requests: Arc::default(),
            bytes: Arc::default(),
            credentials: Arc::new(credentials),
            permits: Arc::new(Semaphore::new(usize::from(limits.connections.max(1)))),
            limits,
            started: Instant::now(),
            latencies: Arc::default(),
            gates: Arc::default(),
            clock: None,
            log,
        };
        Ok(Self { http, runtime: Some(runtime) })
    }

    /// The same, and keeps for `doctor` what answers say of this machine's clock, which says `now`.
    #[must_use]
    pub fn noting_time(mut self, paths: &Paths, now: u64) -> Self {
        self.http.clock = Some(Arc::new(Clock::new(paths, now)));
        self
    }

    /// What this client has sent and received so far.
    pub fn traffic(&self) -> Traffic {
        Traffic { requests: self.http.requests.load(Ordering::Relaxed), bytes: self.http.bytes.load(Ordering::Relaxed) }
    }

    pub(super) fn runtime(&self) -> Result<&Runtime, Failure> {
        self.runtime.as_ref().ok_or_else(|| Failure::bug("the network threads have ended"))
    }
}

/// Five redirects at most, and none that leads where a page may not.
fn redirected(attempt: Attempt<'_>) -> Action {
    let from = attempt.previous().last();
    if from.is_some_and(|from| from.scheme() == "https") && attempt.url().scheme() != "https" {
        return attempt.error("the server redirects from https to an unencrypted address");
    }
    if !matches!(attempt.url().scheme(), "http" | "https") {
        return attempt.error("the server redirects to an address that is neither http nor https");
    }
    if from.is_some_and(|from| !may_lead(from, attempt.url())) {
        return attempt.error("the server redirects from the internet to a private address");
    }
    if attempt.previous().len() > 5 { attempt.error("too many redirects") } else { attempt.follow() }
}

impl Drop for Client {
    /// A name lookup that hangs must not hold up the end of the program.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Http {
    /// Gives the bytes of `range` to `take` as they arrive, until it has enough. What breaks off is gone on with.
    pub(super) async fn stream(&self, url: &Url, range: Range<u64>, take: Take<'_>) -> Result<(), Failure> {
        let _permit = self.permits.acquire().await;
        let (start, mut left) = (range.start, range);
        let mut retries = Retries::new();
        loop {
            let miss = match self.stream_once(url, &mut left, take).await {
                Ok(()) => return Ok(()),
                Err(miss) => miss,
            };
            retries.came(left.start - start);
            retries.after(url, miss, self.left()).await?;
        }
    }

    async fn stream_once(&self, url: &Url, left: &mut Range<u64>, take: Take<'_>) -> Result<(), Miss> {
        let builder = self.request(url)?.header(RANGE, ByteSpan::Of(left.clone()).header());
        let response = self.send(url, builder.header(ACCEPT_ENCODING, "identity")).await?;
        must_be_plain(response.headers())?;
        if !response.status().is_success() {
            return Err(refused(&response));
        }
        let start = text_of(response.headers(), CONTENT_RANGE.as_str()).and_then(|text| part(&text));
        if response.status() != StatusCode::PARTIAL_CONTENT || start.is_none_or(|(start, _)| start != left.start) {
            let why = "the server does not support range requests, and this file is too large to read whole";
            return Err(Miss::lasting(why));
        }
        let (mut satisfied, mut pace) = (false, self.pace());
        let mut body = response.bytes_stream();
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(Miss::passing)?;
            self.count(chunk.len(), &mut pace)?;
            // A server that sends more than it was asked for is not listened to.
            let wanted = usize::try_from(left.end - left.start).unwrap_or(usize::MAX).min(chunk.len());
            left.start += wanted as u64;
            if !satisfied && take(&chunk[..wanted]) == Flow::Enough {
                satisfied = true;
            }
            // A short rest is read all the same: a reply that is dropped takes its connection along.
            let rest = left.end.saturating_sub(left.start);
            if rest == 0 || (satisfied && rest > DRAINED) {
                return Ok(());
            }
        }
        if satisfied {
            return Ok(());
        }
        Err(Miss { again: true, ..Miss::lasting("the reply ended early") })
    }

    /// Sends `request` until it is answered for good. Statuses other than 2xx, 304, 404 and 410 are trouble.
    pub(super) async fn get(&self, request: &HttpRequest<'_>) -> Result<Reply, Failure> {
        let _permit = self.permits.acquire().await;
        let mut retries = Retries::new();
        loop {
            match self.try_hedged(request).await {
                Ok(reply) => return Ok(reply),
                Err(miss) => retries.after(request.url, miss, self.left()).await?,
            }
        }
    }

    /// Digest and length of a whole file, of which nothing is kept; a failure where the index has `stated` another.
    pub(super) async fn digest(&self, url: &Url, stated: Option<&Stated>) -> Result<(Sha256, u64), Failure> {
        let _permit = self.permits.acquire().await;
        let mut retries = Retries::new();
        loop {
            match self.digest_once(url, stated).await {
                Ok(found) => return Ok(found),
                Err(miss) => retries.after(url, miss, self.left()).await?,
            }
        }
    }

    async fn digest_once(&self, url: &Url, stated: Option<&Stated>) -> Result<(Sha256, u64), Miss> {
        let response = self.open(url, None).await?;
        if !response.status().is_success() {
            return Err(refused(&response));
        }
        let (mut hasher, mut total, mut pace) = (Hasher::default(), 0, self.pace());
        let mut other = stated.map(Stated::take);
        let mut body = response.bytes_stream();
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(Miss::passing)?;
            self.count(chunk.len(), &mut pace)?;
            hasher.update(&chunk);
            if let Some(other) = &mut other {
                other.update(&chunk);
            }
            total += chunk.len() as u64;
        }
        other.map_or(Ok(()), Taken::compare).map_err(Miss::lasting)?;
        Ok((hasher.finish(), total))
    }

    /// Starts a download; the caller looks at the status and reads the body.
    pub(super) async fn open(&self, url: &Url, part: Option<ByteSpan>) -> Result<Response, Miss> {
        // Compressed, its size would say nothing.
        let mut request = self.request(url)?.header(ACCEPT_ENCODING, "identity");
        if let Some(part) = part {
            request = request.header(RANGE, part.header());
        }
        let response = self.send(url, request).await?;
        must_be_plain(response.headers()).map(|()| response)
    }

    /// A request that is counted, ends in time and carries the credentials for `url`; the address itself carries none.
    fn request(&self, url: &Url) -> Result<RequestBuilder, Miss> {
        let left = self.left();
        if left.is_zero() {
            return Err(Miss {
                help: Some("if the network is slow, raise --network-timeout"),
                ..Miss::lasting(format!("the network timeout of {} s has passed", self.limits.time.as_secs()))
            });
        }
        self.requests.fetch_add(1, Ordering::Relaxed);
        let builder = self.client.get(without_login(url)).timeout(left);
        Ok(match self.credentials.login(url) {
            Some(login) => builder.basic_auth(login.user, login.password),
            None => builder,
        })
    }

    async fn send(&self, url: &Url, builder: RequestBuilder) -> Result<Response, Miss> {
        let passed = self.gates.pass(url).await;
        let asked = Instant::now();
        // A server that sends one interim answer after the other would never come to an end.
        let answer = tokio::time::timeout(ANSWER, builder.send());
        let Ok(response) = answer.await else {
            self.log.request(|| format!("GET {} -> no answer in {} s", redact(url), ANSWER.as_secs()));
            return Err(Miss { again: true, ..Miss::lasting(format!("no answer within {} s", ANSWER.as_secs())) });
        };
        self.log.request(|| {
            let answer = match &response {
                Ok(response) => response.status().to_string(),
                Err(error) => {
                    if error.is_timeout() {
                        "no answer in time".to_owned()
                    } else {
                        "no answer".to_owned()
                    }
                }
            };
            format!("GET {} -> {answer}, {} ms", redact(url), asked.elapsed().as_millis())
        });
        let response = response.map_err(Miss::passing)?;
        passed.answered();
        if let Some(clock) = &self.clock {
            clock.note(response.headers());
        }
        Ok(response)
    }

    /// What is left of the time.
    pub(super) fn left(&self) -> Duration {
        self.limits.time.saturating_sub(self.started.elapsed())
    }

    /// Counts what has arrived of a reply. Fails where it comes too slowly to wait for the rest.
    pub(super) fn count(&self, bytes: usize, pace: &mut Pace) -> Result<(), Miss> {
        let all = self.bytes.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        pace.keep_up(all, Instant::now())
    }

    pub(super) fn pace(&self) -> Pace {
        Pace::begin(self.bytes.load(Ordering::Relaxed), Instant::now())
    }

    /// Sends `request`, and once more beside it where the answer takes far longer than is usual.
    async fn try_hedged(&self, request: &HttpRequest<'_>) -> Result<Reply, Miss> {
        let kind = if request.part.is_some() { RequestKind::Part } else { RequestKind::Whole };
        let began = Instant::now();
        let first = self.try_once(request);
        tokio::pin!(first);
        let early = tokio::time::timeout(self.latencies.usual(kind), &mut first).await;
        let reply = match early {
            Ok(reply) => reply,
            Err(_) if self.latencies.may_hedge(self.requests.load(Ordering::Relaxed)) => {
                let second = self.try_once(request);
                tokio::pin!(second);
                // The first that is good; where one fails, the other.
                match select(first, second).await.factor_first() {
                    (Ok(reply), _) => Ok(reply),
                    (Err(_), other) => other.await,
                }
            }
            Err(_) => first.await,
        };
        if reply.is_ok() {
            self.latencies.note(kind, began.elapsed());
        }
        reply
    }

    async fn try_once(&self, request: &HttpRequest<'_>) -> Result<Reply, Miss> {
        let encoding = if request.part.is_some() { "identity" } else { "gzip" };
        let mut builder = self.request(request.url)?.header(ACCEPT_ENCODING, encoding);
        if let Some(accept) = request.accept {
            builder = builder.header(ACCEPT, accept);
        }
        if let Some(part) = &request.part {
            builder = builder.header(RANGE, part.header());
        }
        if let Some(validator) = request.validator {
            builder = builder.header(IF_NONE_MATCH, validator);
        }
        let response = self.send(request.url, builder).await?;
        let status = response.status();
        let fine = match status {
            StatusCode::NOT_FOUND | StatusCode::GONE => true,
            StatusCode::NOT_MODIFIED => request.validator.is_some(),
            StatusCode::PARTIAL_CONTENT => request.part.is_some(),
            _ => status.is_success(),
        };
        if !fine {
            return Err(refused(&response));
        }
        self.read(response, request.limit).await
    }

    async fn read(&self, response: Response, limit: u64) -> Result<Reply, Miss> {
        let headers = response.headers();
        let mut reply = Reply {
            status: response.status(),
            url: response.url().clone(),
            content_type: text_of(headers, CONTENT_TYPE.as_str()).unwrap_or_default(),
            etag: text_of(headers, ETAG.as_str()),
            max_age: text_of(headers, "cache-control").and_then(|text| max_age(&text)),
            part: text_of(headers, CONTENT_RANGE.as_str()).and_then(|text| part(&text)),
            body: Vec::new(),
        };
        let mut body = Body::new(headers, limit)?;
        if response.content_length().is_some_and(|length| length > limit) {
            return Err(too_large(limit));
        }
        let mut pace = self.pace();
        let mut stream = response.bytes_stream();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(Miss::passing)?;
            self.count(body.take(&chunk)?, &mut pace)?;
        }
        reply.body = body.finish()?;
        Ok(reply)
    }
}
