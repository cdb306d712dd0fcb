/// The index: where in the log the bytes at an offset of an object stand.
package stoa.storage.index;
