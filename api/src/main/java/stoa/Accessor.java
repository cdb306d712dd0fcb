package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Marks a method that only reads: it changes nothing and calls only accessors.
///
/// An accessor is executed without being logged, and sees every call that completed before it. On
/// an absent object it sees the fresh state and creates nothing. One that asks other objects sees
/// all of them at one moment ([Order#GLOBAL]); it may run twice, and then runs at its caller.
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Accessor {}
