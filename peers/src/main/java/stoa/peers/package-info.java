/// Other storage engines and other servers with shared state, beside which `./stoa bench storage`,
/// `bench tx` and `bench remote` measure.
///
/// The keys of storage engines are extents of the long object: a write is divided where multiples
/// of 64 KiB lie, and each piece is stored under its offset and the number of the write. So an
/// unaligned write reads nothing first, which favours the engine; a read looks at the pieces around
/// its range and lays later ones over earlier ones.
///
/// Servers run in processes of their own, on the loopback device.
@NullMarked
package stoa.peers;

import org.jspecify.annotations.NullMarked;
