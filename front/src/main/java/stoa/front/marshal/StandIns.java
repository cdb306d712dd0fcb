package stoa.front.marshal;

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;

/// Classes without a meaning of their own, which stand for the earlier names of classes in a codec:
/// a codec takes one name for a class. Thread-safe; as many as a codec needs at once.
final class StandIns {
  private static final List<Class<?>> MADE = new ArrayList<>();

  private StandIns() {}

  /// Returns the class of a position.
  static synchronized Class<?> get(int position) {
    while (MADE.size() <= position) MADE.add(make());
    return MADE.get(position);
  }

  private static Class<?> make() {
    byte[] bytes =
        ClassFile.of()
            .build(
                ClassDesc.of(StandIns.class.getPackageName(), "StandIn"),
                made -> made.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SYNTHETIC));
    try {
      return MethodHandles.lookup().defineHiddenClass(bytes, false).lookupClass();
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("a class in its own package", e);
    }
  }
}
