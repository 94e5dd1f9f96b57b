//! One wheel on a server, read by ranges: the tail with the zip directory first, then the members that are wanted and
//! no more.

use std::sync::Arc;

use reqwest::StatusCode;
use url::Url;

use crate::boot::index::Client;
use crate::boot::index::client::Http;
use crate::boot::index::exchange::{ByteSpan, HttpRequest};
use crate::boot::index::retry::no_answer;
use crate::core::diag::Failure;
use crate::core::inspect::{
    Collected, Flow, InspectedWheel, Inspection, LinkReading, Malformed, Sink, TAIL, Unpacker, locate, read,
};
use crate::core::matrix::Matrix;
use crate::core::model::PackageName;
use crate::core::model::build::WheelBuild;
use crate::core::model::contents::{Files, Member};
use crate::core::model::linking::Linking;
use crate::core::model::metadata::Metadata;

/// The largest tail and directory; the largest METADATA.
const LIMIT: u64 = 16 << 20;
const TEXT_LIMIT: u64 = 16 << 20;

/// An opened wheel.
pub(super) struct Remote {
    url: Url,
    pub total: u64,
    pub files: Arc<Files>,
    /// The last bytes of the file; members in there need no request.
    tail: Vec<u8>,
}

impl Remote {
    /// Reads the directory of the wheel at `url`: one request for its last `tail` bytes, or two where it is larger.
    pub(super) async fn open(http: &Http, url: &Url, tail: u64) -> Result<Self, Failure> {
        let (start, total, tail) = fetch(http, url, ByteSpan::Last(tail)).await?;
        let other = || no_answer(url, "the server sent a different range than requested", 1);
        if start.checked_add(tail.len() as u64) != Some(total) {
            return Err(other());
        }
        let unusable = |error: Malformed| no_answer(url, &format!("not a usable wheel: {error}"), 1);
        let place = locate(&tail, total).map_err(unusable)?;
        let here = usize::try_from(place.range.start.saturating_sub(start)).unwrap_or(usize::MAX);
        let end = usize::try_from(place.range.end.saturating_sub(start)).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        if place.range.start < start {
            let missing = place.range.start..start.min(place.range.end);
            let (from, _, part) = fetch(http, url, ByteSpan::Of(missing.clone())).await?;
            if from != missing.start {
                return Err(other());
            }
            bytes = part;
            bytes.truncate(usize::try_from(missing.end - missing.start).unwrap_or(usize::MAX));
        }
        bytes.extend_from_slice(tail.get(here..end).unwrap_or_default());
        let files = read(&bytes, &place).map_err(unusable)?;
        Ok(Self { url: url.clone(), total, files: Arc::new(files), tail })
    }

    /// Bytes of the file that are held here.
    pub(super) fn held_bytes(&self) -> usize {
        self.tail.len()
    }

    /// The METADATA of the wheel.
    pub(super) async fn metadata(&self, http: &Http) -> Result<String, Failure> {
        let unusable = |why: &str| no_answer(&self.url, &format!("not a usable wheel: {why}"), 1);
        let member = self.files.dist_info("METADATA").ok_or_else(|| unusable("it has no .dist-info/METADATA"))?;
        let mut text = Collected::new(TEXT_LIMIT);
        let whole = self.unpack(http, member, None, &mut text).await?;
        whole.map_err(|error| unusable(&error.to_string()))?;
        Ok(text.into_text())
    }

    /// What the wheel was built for.
    pub(super) async fn inspect(&self, http: &Http, subject: InspectedWheel<'_>) -> Result<WheelBuild, Failure> {
        let mut inspection = Inspection::new(subject);
        while let Some(mut request) = inspection.next_request() {
            let member = &self.files.members[request.member];
            let limit = request.limit;
            let outcome = self.unpack(http, member, limit, &mut request).await?;
            inspection.took(request, outcome);
        }
        Ok(inspection.finish())
    }

    /// What the wheel is linked against, as far as `limit` packed bytes tell it.
    pub(super) async fn linking(&self, http: &Http, limit: u64) -> Result<Linking, Failure> {
        let mut reading = LinkReading::new(&self.files, limit);
        let start = self.total - self.tail.len() as u64;
        for mut span in reading.spans() {
            let held = span.range.start.checked_sub(start).and_then(|at| self.tail.get(usize::try_from(at).ok()?..));
            match held {
                Some(bytes) => drop(span.take(bytes)),
                None => http.stream(&self.url, span.range.clone(), &mut |bytes: &[u8]| span.take(bytes)).await?,
            }
            reading.took(span);
        }
        Ok(reading.finish())
    }

    /// Unpacks `member` into `sink`, at most `limit` packed bytes of it. The inner result is about its bytes: `true`
    /// where all of them were read.
    pub(super) async fn unpack(
        &self,
        http: &Http,
        member: &Member,
        limit: Option<u64>,
        sink: &mut (dyn Sink + Send),
    ) -> Result<Result<bool, Malformed>, Failure> {
        let mut unpacker = match Unpacker::new(member) {
            Ok(unpacker) => unpacker,
            Err(error) => return Ok(Err(error)),
        };
        let start = self.total - self.tail.len() as u64;
        let mut malformed = None;
        let mut take = |bytes: &[u8]| {
            unpacker.take(bytes, &mut *sink).unwrap_or_else(|error| {
                malformed = Some(error);
                Flow::Enough
            })
        };
        let held = member.offset.checked_sub(start).and_then(|at| self.tail.get(usize::try_from(at).ok()?..));
        let end = limit.map_or(member.end, |limit| member.end.min(member.offset.saturating_add(limit)));
        match held {
            Some(bytes) => drop(take(bytes)),
            None => http.stream(&self.url, member.offset..end, &mut take).await?,
        }
        Ok(match malformed {
            Some(error) => Err(error),
            None if end < member.end => Ok(false),
            None => unpacker.finish(),
        })
    }
}

/// What a wheel says of itself.
pub struct Inspected {
    pub build: WheelBuild,
    pub linking: Linking,
    pub metadata: Metadata,
}

/// Inspects the wheel at `url`, of which no index speaks; of its libraries at most `limit` packed bytes.
pub fn inspect_address(
    client: &Client,
    url: &Url,
    package: &PackageName,
    (matrix, thorough): (&Matrix, bool),
    limit: u64,
) -> Result<Inspected, Failure> {
    let runtime = client.runtime().map_err(|failure| no_answer(url, &failure.message, 1))?;
    runtime.block_on(async {
        let remote = Remote::open(&client.http, url, TAIL).await?;
        let subject = InspectedWheel { package, files: &remote.files, matrix, thorough };
        let build = remote.inspect(&client.http, subject).await?;
        let linking = remote.linking(&client.http, limit).await?;
        let text = remote.metadata(&client.http).await?;
        Ok(Inspected { build, linking, metadata: Metadata::parse(&text, Some(remote.total)) })
    })
}

/// The text at `url`, of at most `TEXT_LIMIT` bytes.
pub fn fetch_document(client: &Client, url: &Url) -> Result<String, Failure> {
    let runtime = client.runtime().map_err(|failure| no_answer(url, &failure.message, 1))?;
    let request = HttpRequest { url, accept: None, part: None, validator: None, limit: TEXT_LIMIT };
    let reply = runtime.block_on(client.http.get(&request))?;
    if !reply.status.is_success() {
        return Err(no_answer(url, &format!("the server answered {}", reply.status), 1));
    }
    String::from_utf8(reply.body).map_err(|_| no_answer(url, "it is not text", 1))
}

/// The bytes at `url`, of at most `limit`; `None` where the server says that there is nothing.
pub fn fetch_bytes(client: &Client, url: &Url, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
    let runtime = client.runtime().map_err(|failure| no_answer(url, &failure.message, 1))?;
    let request = HttpRequest { url, accept: None, part: None, validator: None, limit };
    let reply = runtime.block_on(client.http.get(&request))?;
    match reply.status {
        status if status.is_success() => Ok(Some(reply.body)),
        StatusCode::NOT_FOUND | StatusCode::GONE => Ok(None),
        status => Err(no_answer(url, &format!("the server answered {status}"), 1)),
    }
}

/// Start of what came, length of the whole file, and the bytes. A server without ranges sends all: fine for a small
/// wheel.
async fn fetch(http: &Http, url: &Url, part: ByteSpan) -> Result<(u64, u64, Vec<u8>), Failure> {
    let request = HttpRequest { url, accept: None, part: Some(part), validator: None, limit: LIMIT };
    let reply = http.get(&request).await?;
    match (reply.status, reply.part) {
        (StatusCode::PARTIAL_CONTENT, Some((start, total))) => Ok((start, total, reply.body)),
        (status, _) if status.is_success() => Ok((0, reply.body.len() as u64, reply.body)),
        (status, _) => Err(no_answer(url, &format!("the server answered {status}"), 1)),
    }
}
