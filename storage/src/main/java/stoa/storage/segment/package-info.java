/// The log: records, their segments, and the common writes of many threads' operations.
package stoa.storage.segment;
