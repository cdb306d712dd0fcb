package stoa.spi;

import java.util.List;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.MapQuery;
import stoa.Query;
import stoa.Stoa;

/// Keeps the indexes of shared classes in shared objects, and answers queries from them.
///
/// Types, indexes, values and objects are texts here: the stored name of the class, the id of the
/// index, the form of the value, and the encoded key with a character for each byte.
public interface Indexes {
  /// Enters an object under a value. A running method makes this call.
  ///
  /// @param unique whether the value may belong to no other object
  /// @return the other object that has the value, which then keeps it; null when there is none
  @Nullable String enter(
      Stoa stoa, String type, String index, boolean unique, String value, String object);

  /// Removes an object from a value. A running method makes this call.
  void leave(Stoa stoa, String type, String index, String value, String object);

  /// Makes changes in one part of an index, see [#CHANGES]. A running method makes this call.
  ///
  /// @param value a value of the part
  void change(Stoa stoa, String type, String index, String value, List<String> changes);

  /// Returns the number of the part of an index that has a value, from 0.
  int partOf(String value);

  /// Returns a part of an index, which is a shared object. Its method [#CHANGES] makes changes of
  /// which no caller needs an answer, so that those of several objects are one call.
  Object part(Stoa stoa, String type, String index, int number);

  /// The name of the method of a part that makes changes, in their order. Its argument is a list of
  /// texts: for each change [#ENTERS] or [#LEAVES] and the value, and then the object.
  String CHANGES = "change";

  /// The name of the method of a part that makes one change of a value.
  String CHANGE = "add";

  /// In front of a value that an object gets, and that other objects may have.
  char ENTERS = '+';

  /// In front of a value that an object loses.
  char LEAVES = '-';

  /// Notes that an index lacks objects from now on, since code without it has changed one. A
  /// running method makes this call.
  void lost(Stoa stoa, String type, String index);

  /// Removes an object from its indexes, as a part of the transaction that deletes it.
  void delete(Stoa stoa, Object shared);

  /// Notes that an index over the entries of a map lacks some from now on, since code without it
  /// has put one. A running method makes this call.
  ///
  /// @param owner see [Entered#owner]
  void lostEntry(Stoa stoa, String owner, String index);

  /// Begins a query for entries of a map, see [Stoa#query].
  ///
  /// @throws IllegalArgumentException when it is no map of a store
  <K, V> MapQuery<K, V> query(Stoa stoa, ConcurrentMap<K, V> map);

  /// Compares the indexes of a map's values with its entries, see [Stoa#checkIndexes].
  ///
  /// @param moment at which both are compared; null for the present
  List<String> differences(Stoa stoa, ConcurrentMap<?, ?> map, @Nullable LogAddress moment);

  /// Begins a query, see [Stoa#query].
  <T> Query<T> query(Stoa stoa, Class<T> type);

  /// Notes for the indexes of a class that they have all objects, when there are none yet.
  void begin(Stoa stoa, Class<?> type);

  /// Compares the indexes of a class with its objects, see [Stoa#checkIndexes].
  ///
  /// @param moment at which both are compared; null for the present
  List<String> differences(Stoa stoa, Class<?> type, @Nullable LogAddress moment);

  /// Returns the ids of the indexes that a type has in the code that executes its calls.
  ///
  /// @param type its stored name
  List<String> indexesOf(Stoa stoa, String type);

  /// Compares an index with the objects of a type whose class the program lacks; an index of a map
  /// with what the map keeps beside its values.
  ///
  /// @param type its stored name, or what [Entered#owner] returns
  /// @param objects the encoded keys of the objects, each time anew; not read for a map
  /// @param moment at which both are compared; null for the present
  List<String> differences(
      Stoa stoa, String type, String index, Iterable<byte[]> objects, @Nullable LogAddress moment);
}
