package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.concurrent.TimeUnit;

/// Makes the objects of a shared class end by themselves: the store deletes an object when no call
/// has changed it for a time, or so long after its creation.
///
/// ```
/// @Shared(name = "shop.Cart")
/// @Expires(value = 30, unit = TimeUnit.MINUTES)
/// public class Cart { ... }
/// ```
///
/// The deletion is like one by [Stoa#delete]: logged once, part of the history, seen by change
/// streams, and in the one order with all calls and transactions. It happens at the end of the time
/// or some hundredths of a second later, by the clock of the leader, whatever crashes meanwhile. A
/// change is a logged call of the object; accessors change nothing. A change that comes before the
/// deletion in the log renews the object, and costs no more than without the annotation.
///
/// When a call creates the object again, that is another object, with a time of its own. When a
/// later version of the class gets the annotation or changes it, objects that exist follow it from
/// their next change on. When a later version loses the annotation, no object of the class ends.
///
/// The annotation stands on the class or interface that has [Shared], or on its implementation,
/// which counts first. The class executes at the store ([Placement#SERVER]), in [LogOrder#GLOBAL].
/// An object that is lent to clients does not end meanwhile. See docs/guide/timers.md.
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Expires {
  /// How long an object lives: at least a millisecond, at most 1,000 years.
  long value();

  /// The unit of the time.
  TimeUnit unit() default TimeUnit.SECONDS;

  /// From when on the time counts.
  Since since() default Since.LAST_CHANGE;

  /// Where the life of an object begins to count.
  enum Since {
    /// At the last logged call of the object.
    LAST_CHANGE,

    /// At the call that created the object. For an object that is older than the annotation, at its
    /// first change under it.
    CREATION
  }
}
