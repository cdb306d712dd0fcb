package stoa.sim.world;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.MethodModel;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import stoa.Accessor;
import stoa.Call;
import stoa.Shared;

/// A sum of a store whose code changes: each version of this class multiplies by a factor of its own.
@Shared(name = "stoa.sim.Tally")
public class SimulatedTally {
  /// What an addition came to.
  public record Added(long version, long sum) {}

  /// One addition.
  public record Line(String id, long amount, int factor) {}

  private long sum;
  private final List<Line> lines = new ArrayList<>();

  protected SimulatedTally() {}

  static int factor() {
    return 1;
  }

  /// Adds, and keeps a line about it.
  public Added add(String id, long amount) {
    sum += amount * factor();
    lines.add(new Line(id, amount, factor()));
    return new Added(Call.version(), sum);
  }

  /// Adds here and to another one, which has the same code.
  public Added addBoth(String id, long amount, SimulatedTally other) {
    Added there = other.add(id, amount);
    if (there.version() > 0) sum += amount * factor();
    lines.add(new Line(id, amount, factor()));
    return new Added(Call.version(), sum);
  }

  @Accessor
  public long sum() {
    return sum;
  }

  @Accessor
  public List<Line> lines() {
    return List.copyOf(lines);
  }

  /// The class files of the version with a factor.
  public static Map<String, byte[]> version(int factor) {
    return Map.of(
        SimulatedTally.class.getName(),
        ClassFile.of()
            .transformClass(ClassFile.of().parse(file(SimulatedTally.class)), multiplying(factor)),
        Added.class.getName(),
        file(Added.class),
        Line.class.getName(),
        file(Line.class));
  }

  private static ClassTransform multiplying(int factor) {
    return (builder, element) -> {
      if (element instanceof MethodModel method && method.methodName().equalsString("factor")) {
        builder.withMethodBody(
            "factor",
            MethodTypeDesc.of(ConstantDescs.CD_int),
            method.flags().flagsMask(),
            code -> code.loadConstant(factor).ireturn());
      } else {
        builder.with(element);
      }
    };
  }

  private static byte[] file(Class<?> type) {
    String name = type.getName().substring(type.getPackageName().length() + 1) + ".class";
    try (InputStream in = Objects.requireNonNull(type.getResourceAsStream(name))) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
