//! Of Perfetto's `TracePacket`, what is written here.

use prost::Message;

/// The state of a sequence, names above all, begins with this packet.
pub(super) const BEGINS: u32 = 1;

/// The packet needs it.
pub(super) const GOES_ON: u32 = 2;

/// The field of `Trace` that packets are in, as it is written before each.
pub(super) const PACKET: u8 = 1 << 3 | 2;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Packet {
    /// In ns.
    #[prost(uint64, optional, tag = "8")]
    pub(super) timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub(super) trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub(super) track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    pub(super) interned_data: Option<InternedData>,
    #[prost(uint32, optional, tag = "13")]
    pub(super) sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "60")]
    pub(super) track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub(super) uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(message, optional, tag = "3")]
    pub(super) process: Option<Process>,
    #[prost(message, optional, tag = "4")]
    pub(super) thread: Option<Thread>,
    #[prost(uint64, optional, tag = "5")]
    pub(super) parent_uuid: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Process {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(string, repeated, tag = "2")]
    pub(super) cmdline: Vec<String>,
    #[prost(string, optional, tag = "6")]
    pub(super) process_name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Thread {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(int64, optional, tag = "2")]
    pub(super) tid: Option<i64>,
    #[prost(string, optional, tag = "5")]
    pub(super) thread_name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackEvent {
    #[prost(uint64, repeated, tag = "3")]
    pub(super) category_iids: Vec<u64>,
    #[prost(message, repeated, tag = "4")]
    pub(super) debug_annotations: Vec<DebugAnnotation>,
    #[prost(enumeration = "Type", optional, tag = "9")]
    pub(super) r#type: Option<i32>,
    #[prost(uint64, optional, tag = "10")]
    pub(super) name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "11")]
    pub(super) track_uuid: Option<u64>,
    #[prost(string, optional, tag = "23")]
    pub(super) name: Option<String>,
    #[prost(fixed64, repeated, tag = "47")]
    pub(super) flow_ids: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
pub(super) enum Type {
    Unspecified = 0,
    Begin = 1,
    End = 2,
    Instant = 3,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct DebugAnnotation {
    #[prost(uint64, optional, tag = "1")]
    pub(super) name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub(super) uint_value: Option<u64>,
    #[prost(string, optional, tag = "6")]
    pub(super) string_value: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct InternedData {
    #[prost(message, repeated, tag = "1")]
    pub(super) event_categories: Vec<EventName>,
    #[prost(message, repeated, tag = "2")]
    pub(super) event_names: Vec<EventName>,
    #[prost(message, repeated, tag = "3")]
    pub(super) debug_annotation_names: Vec<EventName>,
}

/// A name and its number in the sequence.
#[derive(Clone, PartialEq, Message)]
pub(super) struct EventName {
    #[prost(uint64, optional, tag = "1")]
    pub(super) iid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
}
