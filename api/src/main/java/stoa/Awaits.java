package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Marks a method that may wait for a condition of its object, by [Call#await].
///
/// Before each run of such a method the store keeps what it needs to undo the run: a fork of an
/// object that is [stoa.spi.Forkable], and otherwise the encoded state. So a class with a large
/// state and with such methods should be forkable.
///
/// The method changes its object: it is neither [Accessor] nor [Transactional].
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Awaits {
  /// Whether the calls that wait behind this one on the same object go on only after this one.
  ///
  /// Without it, a call that waits for less may overtake. With it, calls go on in the order of
  /// their arrival, and one that waits for much does not starve: a writer among readers, or a
  /// caller that needs many permits. A call of a method that does not wait, or that goes on when it
  /// arrives while no other call waits, overtakes none.
  boolean inOrder() default false;

  /// The name of a method of the same class, with the same parameters, that the store calls when a
  /// caller leaves while its call waits: the caller's session has ended, its time by [Stoa#within]
  /// is over, or the caller ([Stoa#async]) or an operator has canceled the call. The method can
  /// tell callers that wait for this one that it has left. Empty for none.
  ///
  /// The method returns `void`, does not wait, and changes the object. The store calls it with the
  /// arguments of the call that waited. It does not call the method for a caller that leaves while
  /// the leader changes or the store is closed: it does not know these callers any more. So a class
  /// that depends on its callers needs a limit of time, too.
  String left() default "";
}
