//! Content codings: what comes compressed although identity was asked for.

use std::io;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

/// How a body is coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    #[cfg(feature = "decode")]
    Gzip,
    #[cfg(feature = "decode")]
    Deflate,
}

impl Coding {
    /// The coding that headers name; `None` if it cannot be undone, or if there are several.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut found = Self::Identity;
        for value in headers.get_all(CONTENT_ENCODING) {
            for name in value.to_str().ok()?.split(',') {
                let coding = Self::named(&name.trim().to_ascii_lowercase())?;
                if coding != Self::Identity && found != Self::Identity {
                    return None;
                }
                found = if coding == Self::Identity { found } else { coding };
            }
        }
        Some(found)
    }

    pub(crate) fn decoder(self) -> Option<Decoder> {
        match self {
            Self::Identity => None,
            #[cfg(feature = "decode")]
            Self::Gzip => Some(Decoder::gzip()),
            #[cfg(feature = "decode")]
            Self::Deflate => Some(Decoder::deflate()),
        }
    }

    fn named(name: &str) -> Option<Self> {
        match name {
            "" | "identity" => Some(Self::Identity),
            #[cfg(feature = "decode")]
            "gzip" | "x-gzip" => Some(Self::Gzip),
            #[cfg(feature = "decode")]
            "deflate" => Some(Self::Deflate),
            _ => None,
        }
    }
}

/// Undoes a coding, piece by piece.
#[cfg(not(feature = "decode"))]
pub(crate) enum Decoder {}

#[cfg(not(feature = "decode"))]
#[allow(clippy::needless_pass_by_ref_mut)]
impl Decoder {
    pub(crate) fn decode(&mut self, _: &[u8]) -> io::Result<Bytes> {
        match *self {}
    }

    pub(crate) fn finish(&mut self) -> io::Result<Bytes> {
        match *self {}
    }
}

#[cfg(feature = "decode")]
pub(crate) use inflate::Decoder;

#[cfg(feature = "decode")]
mod inflate {
    use std::io::Write as _;

    use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

    use super::{Bytes, io};

    /// Undoes a coding, piece by piece: everything that a piece says comes out with it.
    #[derive(Debug)]
    pub(crate) enum Decoder {
        Gzip(MultiGzDecoder<Vec<u8>>),
        Zlib(ZlibDecoder<Vec<u8>>),
        Raw(DeflateDecoder<Vec<u8>>),
        /// The first byte of a deflate body, or none. Some servers leave the zlib header out; two bytes tell.
        Unsure(Vec<u8>),
    }

    impl Decoder {
        pub(crate) fn gzip() -> Self {
            Self::Gzip(MultiGzDecoder::new(Vec::new()))
        }

        pub(crate) fn deflate() -> Self {
            Self::Unsure(Vec::new())
        }

        pub(crate) fn decode(&mut self, bytes: &[u8]) -> io::Result<Bytes> {
            let out = match self {
                Self::Gzip(decoder) => {
                    decoder.write_all(bytes)?;
                    decoder.flush()?;
                    std::mem::take(decoder.get_mut())
                }
                Self::Zlib(decoder) => {
                    decoder.write_all(bytes)?;
                    decoder.flush()?;
                    std::mem::take(decoder.get_mut())
                }
                Self::Raw(decoder) => {
                    decoder.write_all(bytes)?;
                    decoder.flush()?;
                    std::mem::take(decoder.get_mut())
                }
                Self::Unsure(start) => {
                    start.extend_from_slice(bytes);
                    let [first, second, ..] = start[..] else { return Ok(Bytes::new()) };
                    let is_zlib = first & 0x0f == 8 && (u16::from(first) << 8 | u16::from(second)) % 31 == 0;
                    let start = std::mem::take(start);
                    *self = if is_zlib {
                        Self::Zlib(ZlibDecoder::new(Vec::new()))
                    } else {
                        Self::Raw(DeflateDecoder::new(Vec::new()))
                    };
                    return self.decode(&start);
                }
            };
            Ok(out.into())
        }

        /// What is left at the end of the body. One that was cut off is an error.
        pub(crate) fn finish(&mut self) -> io::Result<Bytes> {
            let out = match self {
                Self::Gzip(decoder) => {
                    decoder.try_finish()?;
                    std::mem::take(decoder.get_mut())
                }
                Self::Zlib(decoder) => {
                    decoder.try_finish()?;
                    std::mem::take(decoder.get_mut())
                }
                Self::Raw(decoder) => {
                    decoder.try_finish()?;
                    std::mem::take(decoder.get_mut())
                }
                Self::Unsure(start) if start.is_empty() => Vec::new(),
                Self::Unsure(_) => return Err(io::ErrorKind::UnexpectedEof.into()),
            };
            Ok(out.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&'static str]) -> Option<Coding> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(CONTENT_ENCODING, http::HeaderValue::from_static(value));
        }
        Coding::of(&headers)
    }

    #[test]
    fn codings_that_cannot_be_undone_are_none() {
        assert_eq!(of(&[]), Some(Coding::Identity));
        assert_eq!(of(&["identity"]), Some(Coding::Identity));
        assert_eq!(of(&["br"]), None);
        assert_eq!(of(&["zstd"]), None);
        assert_eq!(of(&["gzip, br"]), None);
    }

    #[cfg(feature = "decode")]
    #[test]
    fn one_coding_is_undone_and_two_are_not() {
        assert_eq!(of(&["GZIP"]), Some(Coding::Gzip));
        assert_eq!(of(&["identity, deflate"]), Some(Coding::Deflate));
        assert_eq!(of(&["gzip", "gzip"]), None);
    }

    #[cfg(feature = "decode")]
    #[test]
    fn every_byte_comes_out_as_soon_as_it_can() {
        use std::io::Write as _;

        let text = b"data: {}\n\n";
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(text).unwrap();
        zlib.flush().unwrap();
        let flushed = std::mem::take(zlib.get_mut());
        let mut decoder = Decoder::deflate();
        let out: Vec<Bytes> = flushed.chunks(1).map(|byte| decoder.decode(byte).unwrap()).collect();
        assert_eq!(out.concat(), text);
        let rest = zlib.finish().unwrap();
        assert_eq!(decoder.decode(&rest).unwrap(), Bytes::new());
        assert_eq!(decoder.finish().unwrap(), Bytes::new());

        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        raw.write_all(text).unwrap();
        let mut decoder = Decoder::deflate();
        let mut out = decoder.decode(&raw.finish().unwrap()).unwrap().to_vec();
        out.extend(decoder.finish().unwrap());
        assert_eq!(out, text);
    }
}
