package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Marks a method that only reads: it changes nothing and calls only accessors.
///
/// The store does not log a call of an accessor. The call sees every call that completed before it.
/// On an absent object it sees the fresh state and creates nothing. An accessor that asks other
/// objects sees all of them at one moment ([LogOrder#GLOBAL]); it may run twice, and then runs in
/// the caller's process.
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Accessor {}
