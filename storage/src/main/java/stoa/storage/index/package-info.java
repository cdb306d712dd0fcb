/// The index: the places in the log of the bytes at an offset of an object.
package stoa.storage.index;
