/// Other storage engines, beside which `./stoa bench storage` measures the device.
///
/// Their keys are extents of the long object: a write is divided where multiples of 64 KiB lie, and
/// each piece is stored under its offset and the number of the write. So an unaligned write reads
/// nothing first, which favours the engine; a read looks at the pieces around its range and lays
/// later ones over earlier ones.
package stoa.peers;
