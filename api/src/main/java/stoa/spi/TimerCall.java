package stoa.spi;

import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.Schedule;

/// A call that a timer makes, and when. Immutable, if no code changes the arrays.
///
/// @param target the id of the object's stream
/// @param type the stored name of the object's type
/// @param face the name of the class by which the scheduling code calls the object
/// @param key the object's key, encoded
/// @param generation the generation of the object that it calls; 0 for any
/// @param name the timer's name; null for none
/// @param schedule when it makes the call
/// @param method the identity of the method
/// @param arguments the encoded arguments
@SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
public record TimerCall(
    UUID target,
    String type,
    String face,
    byte[] key,
    long generation,
    @Nullable String name,
    Schedule schedule,
    String method,
    byte[] arguments) {}
