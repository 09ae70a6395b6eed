//! The only handler behind all protocols: a request and the protocol it came over determine the
//! response.

use std::collections::HashMap;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{Method, Response, StatusCode, Uri};
use serde_json::json;

use crate::page::{self, ResourceKind};
use crate::settings::{OriginSettings, TcpProtocol};

const TIMING_ALLOW_ORIGIN: HeaderName = HeaderName::from_static("timing-allow-origin");

/// Pages are revalidated, yet may be kept in the back/forward cache, which `no-store` would forbid.
const PAGE_CACHING: &str = "no-cache";
const RESOURCE_CACHING: &str = "no-store";
/// For `?cache=1`.
const CACHEABLE: &str = "public, max-age=600";

/// The protocol of a request, as its server saw it.
#[derive(Clone, Copy)]
pub enum Protocol {
    H3,
    H2,
    Http1,
}

impl Protocol {
    pub fn name(self) -> &'static str {
        match self {
            Protocol::H3 => "HTTP/3",
            Protocol::H2 => "HTTP/2",
            Protocol::Http1 => "HTTP/1.1",
        }
    }

    /// The major version, by which resources tell their page what they came over.
    pub fn major(self) -> u8 {
        match self {
            Protocol::H3 => 3,
            Protocol::H2 => 2,
            Protocol::Http1 => 1,
        }
    }
}

/// An origin of this process, as presented on the others' pages.
pub struct Neighbour {
    pub origin: String,
    pub description: String,
}

impl Neighbour {
    pub fn new(settings: &OriginSettings, port: u16) -> Self {
        Self {
            origin: format!("https://{}:{port}", settings.host),
            description: describe(settings),
        }
    }
}

pub struct Site {
    neighbours: Arc<[Neighbour]>,
    index: usize,
    alt_svc: Option<HeaderValue>,
    timing_allow_origin: bool,
    answer_delay: Duration,
    body_bytes: usize,
    log: Option<mpsc::Sender<String>>,
}

impl Site {
    /// `index` is the site's own index among the neighbours. Fails if a header cannot represent the
    /// Alt-Svc value.
    pub fn new(
        settings: &OriginSettings,
        port: u16,
        index: usize,
        neighbours: Arc<[Neighbour]>,
        log: Option<mpsc::Sender<String>>,
    ) -> Result<Self, header::InvalidHeaderValue> {
        let alt_svc = settings.alt_svc.as_deref().map(|field| match field {
            "auto" => HeaderValue::try_from(format!("h3=\":{port}\"; ma=86400")),
            field => HeaderValue::try_from(field),
        });
        Ok(Self {
            neighbours,
            index,
            alt_svc: alt_svc.transpose()?,
            timing_allow_origin: settings.timing_allow_origin,
            answer_delay: Duration::from_millis(settings.answer_delay_ms),
            body_bytes: settings.body_bytes,
            log,
        })
    }

    /// Answers one request, after the delay requested in the settings or the query.
    pub async fn answer(&self, method: &Method, uri: &Uri, protocol: Protocol) -> Response<Bytes> {
        let query = uri.query().unwrap_or_default().as_bytes();
        let query: HashMap<String, String> = form_urlencoded::parse(query).into_owned().collect();
        if let Some(log) = &self.log {
            let origin = &self.neighbours[self.index].origin;
            let line = json!({
                "origin": origin,
                "host": uri.host(),
                "path": uri.path(),
                "protocol": protocol.name(),
            });
            let _ = log.send(line.to_string());
        }
        let asked_delay = query.get("delay").and_then(|text| text.parse().ok());
        let delay = self.answer_delay + Duration::from_millis(asked_delay.unwrap_or(0));
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        let mut response = match *method {
            Method::GET | Method::HEAD => self.route(uri.path(), &query, protocol),
            _ => not_allowed(),
        };
        self.add_headers(&mut response);
        if method == Method::HEAD {
            *response.body_mut() = Bytes::new();
        }
        response
    }

    fn route(
        &self,
        path: &str,
        query: &HashMap<String, String>,
        protocol: Protocol,
    ) -> Response<Bytes> {
        let cacheable = query.get("cache").is_some_and(|value| value == "1");
        let html = |body: String| {
            let caching = if cacheable { CACHEABLE } else { PAGE_CACHING };
            respond("text/html; charset=utf-8", caching, body.into())
        };
        match path {
            "/" if self.body_bytes > 0 => {
                let kind = ResourceKind::Text;
                let body = page::resource(kind, protocol, self.body_bytes);
                respond(kind.content_type(), PAGE_CACHING, body)
            }
            "/" => html(page::index(&self.neighbours, self.index, protocol)),
            "/page" => html(page::with_resources(
                &self.neighbours[self.index],
                query,
                protocol,
            )),
            "/sw" => html(page::service_worker(&self.neighbours[self.index], protocol)),
            "/sw.js" => {
                let script = Bytes::from_static(page::SERVICE_WORKER_SCRIPT.as_bytes());
                respond(
                    ResourceKind::Script.content_type(),
                    RESOURCE_CACHING,
                    script,
                )
            }
            _ => match path.strip_prefix("/r/").and_then(ResourceKind::of_name) {
                Some(kind) => {
                    let bytes = query.get("bytes").and_then(|text| text.parse().ok());
                    let caching = if cacheable {
                        CACHEABLE
                    } else {
                        RESOURCE_CACHING
                    };
                    let body = page::resource(kind, protocol, bytes.unwrap_or(0));
                    respond(kind.content_type(), caching, body)
                }
                None => {
                    let mut response =
                        html(page::not_found(&self.neighbours[self.index], protocol));
                    *response.status_mut() = StatusCode::NOT_FOUND;
                    response
                }
            },
        }
    }

    fn add_headers(&self, response: &mut Response<Bytes>) {
        let length = response.body().len();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_LENGTH, length.into());
        headers.insert(
            header::ACCESS_CONTROL_ALLOW_ORIGIN,
            HeaderValue::from_static("*"),
        );
        if self.timing_allow_origin {
            headers.insert(TIMING_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        }
        if let Some(field) = &self.alt_svc {
            headers.insert(header::ALT_SVC, field.clone());
        }
    }
}

fn respond(content_type: &'static str, caching: &'static str, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    response
}

fn not_allowed() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response
        .headers_mut()
        .insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}

/// One sentence about what an origin speaks and advertises.
fn describe(settings: &OriginSettings) -> String {
    let mut spoken = Vec::new();
    if settings.h3 {
        spoken.push("HTTP/3");
    }
    if settings.tcp {
        spoken.extend(settings.protocols.iter().map(|protocol| match protocol {
            TcpProtocol::H2 => "HTTP/2",
            TcpProtocol::Http1 => "HTTP/1.1",
        }));
    }
    let spoken = match spoken.split_last() {
        Some((last, [])) => format!("{last} only"),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => "nothing".to_owned(),
    };
    let advertised = match (settings.h3, settings.alt_svc.is_some()) {
        (true, true) => ", and advertises HTTP/3",
        (true, false) => ", but does not advertise HTTP/3",
        (false, true) => ", yet advertises an alternative that nothing here answers",
        (false, false) => "",
    };
    let hidden = if settings.timing_allow_origin {
        ""
    } else {
        "; hides its timing from pages"
    };
    format!("Speaks {spoken}{advertised}{hidden}.")
}
