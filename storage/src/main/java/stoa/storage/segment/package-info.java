/// The log: records, the segments that hold them, and how the operations of many threads are
/// written together.
package stoa.storage.segment;
