package stoa.test;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Marks a parameter or field that gets a store in memory, in the process of the test: a
/// [stoa.Stoa], or a [StoaStore] to kill and restart it. A parameter of these types without an
/// annotation is the same.
@Target({ElementType.PARAMETER, ElementType.FIELD})
@Retention(RetentionPolicy.RUNTIME)
public @interface Embedded {}
