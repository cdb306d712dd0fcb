package stoa.test;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Marks a parameter or field that gets a served store: a [stoa.Stoa] that is a client of a server
/// in this process, or the [StoaServer] itself. A parameter of type `StoaServer` without an
/// annotation is the same.
@Target({ElementType.PARAMETER, ElementType.FIELD})
@Retention(RetentionPolicy.RUNTIME)
public @interface Served {}
