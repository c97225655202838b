//! How messages are written on a gRPC stream.

use std::marker::PhantomData;

use prost::Message;
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// Protocol buffers, with buffers that suit many open streams.
///
/// `E` is written and `D` is read; a client of the processor has the two the other way round.
#[derive(Debug)]
pub struct Protobuf<E, D>(PhantomData<fn(E) -> D>);

impl<E, D> Default for Protobuf<E, D> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<E, D> Clone for Protobuf<E, D> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<E: Message + 'static, D: Message + Default + 'static> Codec for Protobuf<E, D> {
    type Encode = E;
    type Decode = D;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self::default()
    }

    fn decoder(&mut self) -> Self {
        Self::default()
    }
}

impl<E: Message, D> Encoder for Protobuf<E, D> {
    type Item = E;
    type Error = Status;

    fn encode(&mut self, item: E, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(to).map_err(|error| Status::internal(error.to_string()))
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(BUFFER, SENT_AT)
    }
}

impl<E, D: Message + Default> Decoder for Protobuf<E, D> {
    type Item = D;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<D>, Status> {
        D::decode(from).map(Some).map_err(|error| Status::invalid_argument(error.to_string()))
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(BUFFER, SENT_AT)
    }
}

/// A stream of events has messages of some hundred bytes; larger ones make the buffer grow while they last. Each stream has one
/// buffer in each direction, and keeps that of its first message as long as the request's headers are looked at.
const BUFFER: usize = 512;
/// How much is encoded before it is sent.
const SENT_AT: usize = 32 << 10;
