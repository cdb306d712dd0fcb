/// The versioned object device: append-only checksummed segments and an index of extents.
///
/// A [Device][stoa.storage.Device] has two faces on one log and one index:
///
/// - *versioned objects*, the device of the VOSD paper: a
///   [VersionedObject][stoa.storage.object.VersionedObject] is a sparse space of bytes and named
///   attributes, written by [transactions][stoa.storage.object.WriteTransaction] whose versions the
///   caller chooses. Writes are atomic, commutative and idempotent, and a replica needs only the
///   missing updates to be up to date;
/// - *records*: bytes by object, space and number, of which the latest write counts. A caller
///   writes them in [commits][stoa.storage.segment.Commit], each visible whole or not at all.
///   Streams consist of these.
///
/// It uses a [Disk][stoa.storage.disk.Disk], which defines what survives a power loss.
///
/// ```java
/// try (var device = Device.open(new FileDisk(path), DeviceConfig.standard())) {
///   var object = device.object(42);
///   object.write(1, 4096, ByteBuffer.wrap(bytes));       // version 1, at offset 4096: durable
///   try (var write = object.begin(3)) {                  // a gap: version 2 may come later
///     write.write(0, first);
///     write.attribute("owner", name);
///     write.commit();                                    // both at once
///   }
///   object.versionState();                               // 1, 3
/// }
/// ```
///
/// The packages, each on those before it: [disk][stoa.storage.disk] is the port to a file system;
/// [segment][stoa.storage.segment] the log; [index][stoa.storage.index] the places in the log;
/// [object][stoa.storage.object] versioned objects; [upkeep][stoa.storage.upkeep] the maintenance
/// of a device; [replication][stoa.storage.replication] keeps an object on several devices.
/// Programs use the classes that this text links to; the rest is public for the other packages.
///
/// # The files
///
/// ```
///   segment-00000002   the log, in order: the truth. Numbers are missing where segments were retired
///   segment-00000003
///   run-00000007       the index, made from the log: sorted, immutable
///   run-00000009
///   manifest           which runs make up the index, and how much of the log they cover
///   *.new              a segment or manifest being made; without meaning
///   lock               held by the opener (on a file system only); what it runs, see RunningCalls
/// ```
///
/// All numbers are big-endian and without sign. A *varint* has seven bits a byte, the low ones
/// first; the high bit says that more follow. *zigzag* maps a number with a sign to one without: 0,
/// -1, 1, -2 become 0, 1, 2, 3. Checksums are CRC32C. Every file begins with a magic number and a
/// format version; the device refuses another version. It never edits anything in place.
///
/// A *log position* counts the bytes of all segments: the byte at `x` of a segment has the position
/// `base + x`.
///
/// ## Segment
///
/// ```
///   offset  size  header
///        0     8  "STOASEGM"
///        8     4  format version, 2
///       12     4  number of the segment: 1, 2, 3 …
///       16     8  base: the log position of byte 0, which is the logical end of the segment before
///       24     4  checksum of bytes 0 to 23
///       28     4  length of the header, where the first record begins; a multiple of 8
///       32     4  number of older segments that were live when this one began
///       36     4  checksum of bytes 0 to 35 and of all from 40 to the end of the header
///       40  20 each  in ascending order: number of the segment 4, its base 8, its logical end 8
///     then        zeros to the length of the header; then
///                 records, each beginning at a multiple of 8; between them zeros
/// ```
///
/// A rename gives a segment its name, when it and everything before it is durable. So its header
/// also proves how much of the segments before was durable, and only the last one can have a torn
/// tail. Bytes beyond a segment's logical end, zeros written ahead or leftovers of a power loss,
/// mean nothing and are never written again.
///
/// The header of the last segment names all segments. To give up a *retired* one, of which nothing
/// is needed any more, the device begins a segment whose header does not name it; then it deletes
/// the file. So a file that the last header names and that is missing or too short is damage, and
/// one that it does not name is a leftover, which opening deletes.
///
/// ```
///   offset  size  record
///        0     4  "SREC"
///        4     1  kind: 1 a commit of items; other kinds are refused
///        5     1  zero
///        6     2  bytes of zeros between the record, padded to a multiple of 8, and the next one,
///                 divided by 8: with direct I/O, what is written at once ends at a multiple of 4096
///        8     4  length in bytes, this header included
///       12     4  number of items
///       16     8  log position of byte 0
///       24     8  durable: the log position below which all was durable when this was written
///       32     8  digest of the items' checksums, in order: d = (d ^ checksum) * 0x9e3779b97f4a7c15 + 1
///       40     4  checksum of bytes 0 to 39
///       44        the items, without gaps
///
///   offset  size  item
///        0     4  checksum of all that follows; of DATA, of bytes 4 to 35
///        4     4  length of the data in bytes; of DATA, 1 to 4,194,304, block checksums not counted
///        8    16  object
///       24     8  offset
///       32     1  space
///       33     1  kind: 0 RECORD, an extent; 1 DATA; 2 to 127 NOTE, whose meaning the log does not know
///       34     2  zero
///       36        the data; of DATA, blocks of 4096 bytes, the last one shorter, and behind each
///                 4 bytes: its checksum ^ mix(log position of the item's byte 0, number of the block)
///
///   mix(item, block), of 64 bits, >>> without sign:
///     x = item * 0x9e3779b97f4a7c15 + block
///     x = (x ^ x >>> 32) * 0xbf58476d1ce4e5b9
///     x = (x ^ x >>> 29) * 0x9e3779b97f4a7c15
///     the upper 32 bits of x
/// ```
///
/// A record is *whole* when its header's checksum and position are right, every item's checksum is,
/// every block's, and so is the digest. An item's checksum lets a reader verify a single item, a
/// block's checksum a part of DATA; the mix makes a block valid at its own place only. The digest
/// binds the items to their record.
///
/// ## Notes
///
/// Notes are the log's entries about versioned objects, and about released records. An *item place*
/// is a varint: 0 a hole, which has no item; odd, twice the log position of the item plus one;
/// even, twice the item's place relative to the record of this note, plus two.
///
/// ```
///   kind          data of the item; its object is the one the note is about
///   2 COMMIT      varint birth of the object when the change began
///                 varint target: 0 the object; else the number of a snapshot, whose delta it is
///                 versions that the object has from now on, as below
///                 extents: varint count; each varint offset - offset before, varint length,
///                          item place, varint skip unless a hole, zigzag varint version - the one before
///                 attributes: as extents; offset is the slot, length that of the item
///   3 MOVED       as COMMIT: what is said was so before and is at this place now
///   4 DELETED     varint birth: nothing of the object below that log position lives; 0: this item's
///   5 SNAPSHOT    varint number of the snapshot, 0: this item's position; the versions it sees
///   6 RELEASED    varint number of the snapshot
///   7 ATTRIBUTE   no note; space 129, offset the slot: varint length of the name, name, value
///   9 FORKED      varint birth of the object when it was made, id of the origin 16, varint number of
///                 the origin's snapshot; the versions it sees
///   8 TRIMMED     nothing; space is a record space of the object, offset the least one that stays
///
///   versions      varint number of ranges; each varint first - last before, varint last - first
/// ```
///
/// The index has an object's extents in space 128, never overlapping; its attributes in 129, by
/// slot, which is the first 63 bits of the name's SHA-256; its ranges of versions in 130; its birth
/// in 131; its snapshots in 132; in 133, by the number of a record space, the bound of its trims;
/// in 134 the forks of its snapshots. Beside the birth, at offset 1, is the origin of a fork. The
/// *delta* of a snapshot, the parts that it sees and the object no longer has, is in the spaces 128
/// and 129 of an id of its own.
///
/// Reading the notes of the log in order makes the index. Retired segments may be missing: later
/// notes repeat the live parts, the reader skips a place in a retired segment, and of two versions
/// at one byte the higher one counts in any order. So does the highest offset of the trims of a
/// record space.
///
/// ## Recovery
///
/// The manifest has the log position from which recovery must read; recovery takes records until
/// the first that is not whole. There begins either a *torn tail*, of which nothing had been
/// durable, or damage. It is damage when a later record header in the segment, itself undamaged,
/// has a `durable` beyond this position, when a later segment's base is beyond it, or the
/// manifest's coverage: then opening fails and changes nothing. Otherwise recovery discards
/// everything from there on, including later whole records: they were not durable either, and after
/// a gap they make no prefix. If it has discarded anything but zeros, the next record begins a new
/// segment, whose base cuts the tail off for good.
///
/// Before that, recovery writes the bytes of the last records again, each as it is, from the
/// highest `durable` of a record header on, and syncs them: a sync that failed may have left them
/// in the cache of the operating system alone, where they look durable.
///
/// ## Run
///
/// Blocks of 4096 bytes; a block's number times 4096 is its place.
///
/// ```
///   offset  size  block
///        0     4  checksum of bytes 4 to 4095
///        4     1  type: 1 leaf, 2 fences, 3 filter, 4 header (block 0), 5 footer (the last block)
///        5     1  level of a fence block: 1 above leaves, 2 above those …
///        6     2  number of entries
///        8     4  number of the run
///       12     4  number of the block
///       16        by type:
///
///   header        16  8  "STOARUNS"          24  4  format version, 2
///   footer        16  8  "STOARUNS"          24  4  format version, 2
///                 28  4  the root block      32  4  the root's level
///                 36  8  number of entries
///                 44  8  log position from which, and   52  8  up to which the run has every entry
///   fences        16  4  first filter block of the group (level 1)     20  4  their number
///                 24     entries: object 16, space 1, offset 8 (the first key below), block 4
///   filter        16     32,640 bits of a Bloom filter over (object, space), seven for each key
///   leaf          16     entries, in order of (object, space, offset)
///               4094  2  number of restarts; in front of it, last first, the place of each, 2 bytes
///
///   leaf entry    in the record spaces, 0 to 127:
///                 full:  0x00, object 16, space 1, varint offset, varint position, varint length
///                 short: varint offset - offset before (at least 1),
///                        zigzag varint position - position before, varint length
///
///                 in the versioned spaces, 128 to 255:
///                 full:  0x00, object 16, space 1, varint offset, value
///                 short: varint offset - offset before (at least 1), value
///                 value: flags 1, zigzag varint position - position before, and unless removed
///                        varint length, [varint skip,] [zigzag varint version - version before]
///
///   flags         bits 0 and 1: 0 data, 1 a hole, 2 removed
///                 bit 2: there is a skip, else it is 0
///                 bit 3: there is no version, it is the version before
/// ```
///
/// A short entry belongs to the object and space of the entry before. Every 32nd entry of a leaf is
/// full and a restart. In a full entry of a versioned space the position and version before are 0;
/// a removed entry has no version and leaves the version before as it was. An entry that is removed
/// hides older ones of its key in older runs; the oldest run has none. A *group* is the leaves
/// under one fence block of level 1: the leaves come first, then their filter, then the fence
/// block, so the device writes a run in one pass.
///
/// ## Manifest
///
/// ```
///   offset  size
///        0     8  "STOAMANI"
///        8     4  format version, 1
///       12     4  length of the file
///       16     8  the log position that the runs cover; everything below it is durable
///       24     4  a number no run has had
///       28     4  number of runs
///       32   8 each  newest first: number of the run 4, number of its blocks 4
///      end     4  checksum of all before
/// ```
///
/// ## Updates
///
/// A [VersionedObject][stoa.storage.object.VersionedObject] sends updates to a peer; an export has
/// the same format: a header, then frames.
///
/// ```
///   offset  size  header
///        0     8  "STOAUPDT"
///        8     4  format version, 1
///
///   offset  size  frame
///        0     1  kind
///        1     4  length n of the data in bytes
///        5     n  data
///    5 + n     4  checksum of kind and data
///
///   1 versions             as in a note: those that the peer lacks
///   2 data                 varint offset, varint version, bytes (at most 1 MiB)
///   3 hole                 varint offset, varint version, varint length
///   4 attribute            varint slot, varint version, varint length of the name, name, value
///   5 removed attribute    varint slot, varint version
///   6 end                  varint checksum of the kinds and data of all frames before
/// ```
package stoa.storage;
