/// Values as bytes: arguments, results, exceptions and the state of shared objects.
///
/// An encoding begins with a byte that says what it is:
///
/// ```
/// arguments  0x01, the simple ones in order, then the others as one graph
///            0x02, as 0x01, with the number of its simple type, or -1, in front of each: those of a
///            method with a stoa.MethodId that is not its own name and types
/// value      0x10 … 0x18 a simple value (null, false, true, int, long, double, text, UUID, void)
///            0x1F a graph
/// state      0x20, a graph whose root is the object
///            0x21, what an object with stoa.spi.OwnState writes: numbers, and values, where a graph
///            has its length behind its first byte
/// thrown     0x30, a graph of exceptions;  0x31, text for CallFailed
/// copy       as value
/// ```
///
/// A *graph* is written by Apache Fory 1.6.0: it keeps track of references, and knows the JDK's
/// types. The program's own classes are written by [stoa.front.marshal.StructSerializer]: an id of
/// the class, an id of its schema, and its fields in schema order. Ids are given once by name in
/// the dictionary behind [stoa.front.marshal.TypeIds]. A shared object is written as the id of its
/// type and its key.
///
/// Nothing of Fory is visible outside, and no throwable of its: what cannot be encoded is
/// [stoa.NotShareable] or [stoa.LimitExceeded], what cannot be decoded is [stoa.Corrupt], or
/// [stoa.NotShareable] when the classes have changed in a way that needs a programmer.
package stoa.front.marshal;
