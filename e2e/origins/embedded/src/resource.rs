//! Small resources that tell the page which protocol they came over, of any requested size.

use bytes::Bytes;

use crate::site::Protocol;

/// Larger requests are capped: the whole body is built in memory.
const MAX_BYTES: usize = 64 * 1024 * 1024;

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
pub fn body(kind: ResourceKind, protocol: Protocol, bytes: usize) -> Bytes {
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
    let wanted = body.len().max(bytes.min(MAX_BYTES));
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
