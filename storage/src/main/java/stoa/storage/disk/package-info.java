/// The port to a file system, the disks that implement it, and the exceptions of storage.
package stoa.storage.disk;
