//! What went wrong with a request, whether to try again, and what to say when not.

use std::time::{Duration, Instant};

use reqwest::Response;
use reqwest::header::RETRY_AFTER;
use url::Url;

use crate::boot::index::which_index::{login_variable, redact};
use crate::core::diag::Failure;

/// Tries of one request; between them 0.3, 0.9 and 2.7 s, or what the server asks for up to a minute.
const TRIES: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(300);

/// What helps where a server wants to know who asks.
const LOGIN: &str = "if the index needs a login, set COLAB_BOOT_INDEX_NAME_USERNAME and \
                     COLAB_BOOT_INDEX_NAME_PASSWORD for the `[[index]]` called NAME; for the default index, add it to \
                     netrc, the keyring or COLAB_BOOT_INDEX_URL";

/// `failure` of the index `name`, with the variables that hold its login.
pub(super) fn of_index(mut failure: Failure, name: &str) -> Failure {
    let [user, password] = ["USERNAME", "PASSWORD"].map(|what| login_variable("COLAB_BOOT_INDEX", name, what));
    for help in failure.help.iter_mut().filter(|help| *help == LOGIN && name != "default") {
        *help = format!(
            "if the index `{name}` needs a login, set {user} and {password}, or add it to netrc or the keyring"
        );
    }
    failure
}

/// Why a try failed, and whether another may do better.
pub(super) struct Miss {
    pub(super) why: String,
    pub(super) again: bool,
    pub(super) wait: Option<Duration>,
    pub(super) help: Option<&'static str>,
}

impl Miss {
    pub(super) fn passing(error: reqwest::Error) -> Self {
        let help = error.is_connect().then_some(
            "check the network and the index address; where HTTP_PROXY, HTTPS_PROXY or ALL_PROXY is set, also check the proxy",
        );
        let again = !error.is_redirect();
        let why = reason(error);
        let is_out_of_time = why.contains("certificate") && (why.contains("expired") || why.contains("not valid yet"));
        let help =
            if is_out_of_time { Some("check the clock of this machine and the server's certificate") } else { help };
        Self { why, again, wait: None, help }
    }

    pub(super) fn lasting(why: impl Into<String>) -> Self {
        Self { why: why.into(), again: false, wait: None, help: None }
    }
}

/// After so many bytes more, the tries are counted anew: what goes on is worth going on with, however often the
/// connection breaks.
const WORTHWHILE: u64 = 1 << 20;

/// How often one request has been tried, and how long the next pause is.
pub(super) struct Retries {
    tries: u32,
    pause: Duration,
    /// How many bytes had come when they were counted anew.
    bytes: u64,
}

impl Retries {
    pub(super) const fn new() -> Self {
        Self { tries: 1, pause: FIRST_PAUSE, bytes: 0 }
    }

    /// So many bytes have come, by all tries.
    pub(super) const fn came(&mut self, bytes: u64) {
        if bytes >= self.bytes + WORTHWHILE {
            *self = Self { bytes, ..Self::new() };
        }
    }

    /// Waits before the next try, no longer than what is `left` of the time, or gives up.
    pub(super) async fn after(&mut self, url: &Url, miss: Miss, left: Duration) -> Result<(), Failure> {
        if !miss.again || self.tries == TRIES {
            let mut failure = no_answer(url, &miss.why, self.tries);
            if let Some(help) = miss.help {
                failure.help = vec![help.to_owned()];
            }
            return Err(failure);
        }
        tokio::time::sleep(miss.wait.unwrap_or(self.pause).min(left)).await;
        self.pause *= 3;
        self.tries += 1;
        Ok(())
    }
}

/// A network that brings fewer bytes a second for so long is as good as gone; a reply that stands still is given up
/// sooner.
const SLOWEST: u64 = 1000;
const WINDOW: Duration = Duration::from_secs(30);

/// How fast the network is while one reply arrives. Others count too: many at once share a slow line.
pub(super) struct Pace {
    since: Instant,
    bytes: u64,
}

impl Pace {
    /// `bytes` have come so far, of all replies.
    pub(super) const fn begin(bytes: u64, now: Instant) -> Self {
        Self { since: now, bytes }
    }

    /// `bytes` have come by `now`, of all replies. Fails where that is too little to wait for the rest.
    pub(super) fn keep_up(&mut self, bytes: u64, now: Instant) -> Result<(), Miss> {
        let window = now.saturating_duration_since(self.since);
        if window < WINDOW {
            return Ok(());
        }
        if bytes.saturating_sub(self.bytes) < SLOWEST * window.as_secs() {
            return Err(Miss { again: true, ..Miss::lasting("the server sends less than 1 kB per second") });
        }
        *self = Self::begin(bytes, now);
        Ok(())
    }
}

/// A status that is no answer, and whether a later one may be.
pub(super) fn refused(response: &Response) -> Miss {
    let status = response.status();
    let again = matches!(status.as_u16(), 408 | 425 | 429) || status.is_server_error();
    let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let wait = wait.map(|seconds: u64| Duration::from_secs(seconds.min(60)));
    let help = matches!(status.as_u16(), 401 | 403).then_some(LOGIN);
    let unasked = match status.as_u16() {
        206 => ", with a part of the page instead of the whole page",
        304 => ", but the page is not cached",
        _ => "",
    };
    Miss { why: format!("the server answered {status}{unasked}"), again, wait, help }
}

/// The innermost cause says most: "connection refused" rather than "error sending request". Addresses, which may hold
/// secrets, are left out of it.
pub(super) fn reason(error: reqwest::Error) -> String {
    let kind = if error.is_timeout() { "no answer in time: " } else { "" };
    let error = error.without_url();
    let mut inner: &dyn std::error::Error = &error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    format!("{kind}{inner}")
}

/// The failure to read `url`, shown without credentials.
pub(super) fn no_answer(url: &Url, why: &str, tries: u32) -> Failure {
    let times = if tries > 1 { format!(" ({tries} tries)") } else { String::new() };
    Failure::world(format!("could not read `{}`{times}", redact(url))).cause(why).help(
        "check the network and the index address, then run the command again, with --refresh if the index has changed",
    )
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Pace;

    #[test]
    fn what_drips_is_given_up_and_what_flows_is_not() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut drips = Pace::begin(5000, start);
        assert!((0..30).all(|second| drips.keep_up(5000 + 16 * second, at(second)).is_ok()));
        assert!(drips.keep_up(5480, at(30)).is_err_and(|miss| miss.again));
        let mut flows = Pace::begin(0, start);
        assert!((0..=600).all(|second| flows.keep_up(1100 * second, at(second)).is_ok()));
        // What has come before does not count for ever.
        assert!(flows.keep_up(1100 * 600 + 16, at(640)).is_err());
    }
}
