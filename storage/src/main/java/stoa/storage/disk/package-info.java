/// What the device needs of a file system, the disks that offer it, and how storage fails.
package stoa.storage.disk;
