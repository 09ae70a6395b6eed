//! The pages that users and tests open, plain HTML that loads nothing from elsewhere, and the small
//! resources that tell a page which protocol they came over, of any requested size.

use std::collections::HashMap;
use std::fmt::Write;

use bytes::Bytes;
use http::Uri;

use crate::site::{Neighbour, Protocol};

const STYLE: &str = include_str!("page.css");
const ARRIVALS_SCRIPT: &str = include_str!("arrivals.js");
const REGISTER_SCRIPT: &str = include_str!("register.js");
/// Answers navigations to `/sw` inside the browser.
pub const SERVICE_WORKER_SCRIPT: &str = include_str!("service-worker.js");

/// More would only test the browser's patience.
const MAX_RESOURCES: usize = 5000;
const DEFAULT_RESOURCES: usize = 12;

/// The front page: a description of this origin, and links to all the others.
pub fn index(neighbours: &[Neighbour], own: usize, protocol: Protocol) -> String {
    let all: Vec<&str> = neighbours
        .iter()
        .map(|neighbour| neighbour.origin.as_str())
        .collect();
    let from: String = form_urlencoded::byte_serialize(all.join(",").as_bytes()).collect();
    let mut body = format!(
        "<p><a href=\"/page?resources=24&amp;from={from}\">A page with 24 resources from every \
         origin</a><br><a href=\"/sw\">A page answered by a service worker</a></p>\n\
         <h2>Origins</h2>\n<ul class=\"origins\">\n"
    );
    for (index, neighbour) in neighbours.iter().enumerate() {
        let here = if index == own {
            " aria-current=\"page\""
        } else {
            ""
        };
        let _ = writeln!(
            body,
            "<li><a href=\"{origin}/\"{here}>{origin}</a> {description}</li>",
            origin = escape(&neighbour.origin),
            description = escape(&neighbour.description),
        );
    }
    body.push_str("</ul>\n");
    document(&neighbours[own], protocol, "", &body)
}

/// A page whose resources (images, scripts and fetches in turn, or only those of `kind`) are spread
/// over the origins in `from`; `bytes` and `cache` are passed on to each resource.
pub fn with_resources(
    own: &Neighbour,
    query: &HashMap<String, String>,
    protocol: Protocol,
) -> String {
    let count = query.get("resources").and_then(|text| text.parse().ok());
    let count = count.unwrap_or(DEFAULT_RESOURCES).min(MAX_RESOURCES);
    let from: Vec<String> = match query.get("from") {
        Some(list) => list.split(',').filter_map(https_origin).collect(),
        None => Vec::new(),
    };
    let from = if from.is_empty() {
        vec![own.origin.clone()]
    } else {
        from
    };
    let handed_on = handed_on(query);
    let only = query.get("kind").map(String::as_str);

    let mut body =
        "<p><output id=\"summary\">Loading</output></p>\n<ul class=\"cells\">\n".to_owned();
    for index in 0..count {
        // The kind changes once every origin had its turn, so each origin serves every kind.
        let turn = ["image", "script", "fetch"][index / from.len() % 3];
        let origin = escape(&from[index % from.len()]);
        let _ = match only.unwrap_or(turn) {
            "script" => writeln!(
                body,
                "<li><script async src=\"{origin}/r/{index}.js{handed_on}\"></script></li>"
            ),
            "fetch" => {
                writeln!(
                    body,
                    "<li data-fetch=\"{origin}/r/{index}.txt{handed_on}\"></li>"
                )
            }
            _ => writeln!(
                body,
                "<li><img hidden alt=\"\" src=\"{origin}/r/{index}.png{handed_on}\"></li>"
            ),
        };
    }
    body.push_str("</ul>\n");
    document(own, protocol, ARRIVALS_SCRIPT, &body)
}

/// Registers the service worker that answers the next navigation to this page.
pub fn service_worker(own: &Neighbour, protocol: Protocol) -> String {
    let body = "<p><output id=\"worker\">Registering a service worker</output></p>\n";
    document(own, protocol, REGISTER_SCRIPT, body)
}

pub fn not_found(own: &Neighbour, protocol: Protocol) -> String {
    document(
        own,
        protocol,
        "",
        "<p>No such page. <a href=\"/\">Front page</a></p>\n",
    )
}

fn document(own: &Neighbour, protocol: Protocol, script: &str, body: &str) -> String {
    let host = own.origin.trim_start_matches("https://");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <title>{host}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n\
         <script>\n{script}</script>\n</head>\n<body>\n<h1>{host}</h1>\n\
         <p>Served over <strong id=\"protocol\" data-major=\"{major}\">{name}</strong></p>\n\
         <p class=\"quiet\">{description}</p>\n{body}</body>\n</html>\n",
        host = escape(host),
        major = protocol.major(),
        name = protocol.name(),
        description = escape(&own.description),
    )
}

fn handed_on(query: &HashMap<String, String>) -> String {
    let mut text = form_urlencoded::Serializer::new(String::new());
    for name in ["bytes", "cache"] {
        if let Some(value) = query.get(name) {
            text.append_pair(name, value);
        }
    }
    match text.finish() {
        text if text.is_empty() => text,
        text => format!("?{}", escape(&text)),
    }
}

/// The origin of an https URL; None for any other text.
fn https_origin(text: &str) -> Option<String> {
    let uri: Uri = text.trim().parse().ok()?;
    match (uri.scheme_str(), uri.authority()) {
        (Some("https"), Some(authority)) => Some(format!("https://{authority}")),
        _ => None,
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Larger requests are capped: the whole body is built in memory.
const MAX_RESOURCE_BYTES: usize = 64 * 1024 * 1024;

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ResourceKind {
    Image,
    Script,
    Style,
    Text,
}

impl ResourceKind {
    /// By the extension of the file name, as a static server would.
    pub fn of_name(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1 {
            "png" => Some(ResourceKind::Image),
            "js" => Some(ResourceKind::Script),
            "css" => Some(ResourceKind::Style),
            "txt" => Some(ResourceKind::Text),
            _ => None,
        }
    }

    pub fn content_type(self) -> &'static str {
        match self {
            ResourceKind::Image => "image/png",
            ResourceKind::Script => "text/javascript; charset=utf-8",
            ResourceKind::Style => "text/css; charset=utf-8",
            ResourceKind::Text => "text/plain; charset=utf-8",
        }
    }
}

/// A body of `bytes`, or the smallest valid one if that is longer. It contains the major version of
/// the protocol: an image in its width, a script in a call of `arrived`, a text in its first line.
pub fn resource(kind: ResourceKind, protocol: Protocol, bytes: usize) -> Bytes {
    let major = protocol.major();
    let mut body = match kind {
        ResourceKind::Image => square(major),
        ResourceKind::Script => {
            format!("globalThis.arrived?.(document.currentScript, {major});\n").into_bytes()
        }
        ResourceKind::Style => format!(":root {{ --arrived: {major}; }}\n").into_bytes(),
        ResourceKind::Text => format!("{major}\n").into_bytes(),
    };
    // Trailing spaces are harmless in text, and decoders stop at the end of an image.
    let wanted = body.len().max(bytes.min(MAX_RESOURCE_BYTES));
    body.resize(wanted, b' ');
    body.into()
}

fn square(side: u8) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, side.into(), side.into());
    encoder.set_color(png::ColorType::Grayscale);
    let pixels = vec![0; usize::from(side) * usize::from(side)];
    encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&pixels))
        .expect("a vector takes every byte, and the pixels fit the header");
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "https://own.test:1";

    fn page(query: &[(&str, &str)]) -> String {
        let own = Neighbour {
            origin: OWN.to_owned(),
            description: String::new(),
        };
        let query = query
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        with_resources(&own, &query.collect(), Protocol::H2)
    }

    #[test]
    fn every_origin_serves_every_kind() {
        let html = page(&[
            ("resources", "6"),
            ("from", "https://a.test:1,https://b.test:2"),
        ]);
        for wanted in [
            "src=\"https://a.test:1/r/0.png\"",
            "src=\"https://b.test:2/r/1.png\"",
            "src=\"https://a.test:1/r/2.js\"",
            "src=\"https://b.test:2/r/3.js\"",
            "data-fetch=\"https://a.test:1/r/4.txt\"",
            "data-fetch=\"https://b.test:2/r/5.txt\"",
        ] {
            assert!(html.contains(wanted), "{wanted}");
        }
    }

    #[test]
    fn a_query_cannot_write_markup() {
        let html = page(&[
            ("from", "https://a.test\"><b>,javascript:x"),
            ("bytes", "\"><b>"),
        ]);
        assert!(!html.contains("<b>") && !html.contains("javascript:x"));
        assert!(html.contains(&format!("src=\"{OWN}/r/0.png?bytes=%22%3E%3Cb%3E\"")));
    }
}
