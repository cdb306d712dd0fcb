package stoa.spi;

import stoa.Stoa;

/// What an engine offers to facades, beyond the programming interface. Every [Stoa] of an engine
/// with collections is one.
public interface Host extends Stoa {
  /// Makes a class known that may travel though no declaration of a shared class names it, now and
  /// whenever the store is opened again: a facade's own, or that of the elements of a collection.
  /// Cheap when it is known.
  ///
  /// @throws stoa.NotShareable when instances of the class cannot travel
  void admit(Class<?> type);

  /// The class of a name, found as the store finds the classes of its objects.
  ///
  /// @throws stoa.NotShareable when there is none
  Class<?> classNamed(String name);

  /// Whether calls that this thread makes now take part in a transaction.
  boolean isTransacting();

  /// How many bytes the arguments of a call may take, or its answer.
  int callBytesMax();

  /// How many bytes a value takes on its way, as an argument or in an answer.
  ///
  /// @throws stoa.NotShareable when it cannot travel
  int bytes(Object value);

  /// A copy of a value as it arrives elsewhere: it shares nothing with the value that can change. A
  /// value that never changes is its own copy.
  ///
  /// @throws stoa.NotShareable when it cannot travel
  <T> T copy(T value);

  /// Whether calls through a proxy see the present of an object in the store: the proxy is no view
  /// of the past, of a transaction that the program holds, or of an object at its clients.
  boolean isLive(Object shared);
}
