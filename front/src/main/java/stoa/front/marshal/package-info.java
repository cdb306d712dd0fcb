/// Values as bytes: arguments, results, exceptions and the state of shared objects.
///
/// An encoding begins with a byte that tells its kind:
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
/// Apache Fory 1.6.0 writes a *graph*: it keeps track of references, and knows the JDK's types.
/// [stoa.front.marshal.StructSerializer] writes the program's own classes: an id of the class, an
/// id of its schema, and its fields in schema order. The dictionary behind
/// [stoa.front.marshal.TypeIds] assigns each name an id once. The encoding of a shared object is
/// the id of its type and its key.
///
/// Fory is invisible outside, and so are its exceptions. A value that cannot be encoded throws
/// [stoa.NotShareable] or [stoa.LimitExceeded]. Bytes that cannot be decoded throw [stoa.Corrupt],
/// or [stoa.NotShareable] when the classes have changed in a way that needs a programmer.
package stoa.front.marshal;
