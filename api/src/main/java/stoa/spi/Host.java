package stoa.spi;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Call1;
import stoa.Snapshot;
import stoa.Stoa;

/// The functions of an engine for facades, beyond the programming interface. Every [Stoa] of an
/// engine with collections is a host.
public interface Host extends Stoa {
  /// Registers a class that may travel though no declaration of a shared class names it, now and
  /// whenever the store opens again: a facade's own, or that of the elements of a collection. Cheap
  /// for a registered class.
  ///
  /// @throws stoa.NotShareable when instances of the class cannot travel
  void admit(Class<?> type);

  /// Returns the class of a name, found as the store finds the classes of its objects.
  ///
  /// @throws stoa.NotShareable when there is none
  Class<?> classNamed(String name);

  /// Returns whether calls that this thread makes now take part in a transaction.
  boolean isTransacting();

  /// Returns a snapshot of the moment that the transaction of this thread reads.
  Snapshot snapshotOfTransaction();

  /// Returns how many bytes the arguments of a call, or its answer, may take.
  int callBytesMax();

  /// Returns how many bytes a value takes as an argument or in an answer.
  ///
  /// @throws stoa.NotShareable when it cannot travel
  int bytes(Object value);

  /// Returns a copy of a value as it arrives elsewhere: it shares nothing with the value that can
  /// change. A value that never changes is its own copy.
  ///
  /// @throws stoa.NotShareable when it cannot travel
  <T> T copy(T value);

  /// Makes calls that only read, on local or cached views of several objects, so that all show one
  /// moment: when an object changes meanwhile, this makes them again. When that does not help, the
  /// calls read the objects where they live.
  <R extends @Nullable Object> R atOneMoment(Supplier<R> calls);

  /// One of several calls.
  ///
  /// @param shared a proxy
  record OneCall<T>(T shared, Call1<T, ? extends @Nullable Object> call) {}

  /// Makes calls on objects, and returns their answers in the same order. If the calls take part in
  /// a transaction at servers, many of them are in progress at once; those on the same object
  /// happen in their order. Elsewhere, each begins after the one before.
  List<@Nullable Object> callAll(List<? extends OneCall<?>> calls);

  /// Deletes objects without indexes in the transaction of this thread, like [#callAll].
  ///
  /// @param shared live proxies
  /// @throws stoa.Gone when one of them does not exist
  void deleteAll(List<?> shared);

  /// Returns whether calls through a proxy see the present of an object in the store: the proxy is
  /// not a view of the past, of a transaction that the program holds, or of an object at its
  /// clients.
  boolean isLive(Object shared);
}
