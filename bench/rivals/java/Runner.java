import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's locks, for bench/run.py: lib=rlock or lib=fenced. */
final class Runner {
  private record Plain(RLock lock) implements Load.Lock {
    @Override
    public void acquire() {
      lock.lock();
    }

    @Override
    public void release() {
      lock.unlock();
    }
  }

  private record Fenced(RFencedLock lock) implements Load.Lock {
    @Override
    public void acquire() {
      lock.lockAndGetToken();
    }

    @Override
    public void release() {
      lock.unlock();
    }
  }

  private static Load.LockOf locks(String library, RedissonClient client) {
    return switch (library) {
      case "rlock" -> key -> new Plain(client.getLock(key));
      case "fenced" -> key -> new Fenced(client.getFencedLock(key));
      default -> throw new IllegalArgumentException("lib=" + library);
    };
  }

  public static void main(String[] arguments) throws Exception {
    Load load = new Load(arguments);
    Config config = new Config();
    config.useSingleServer().setAddress("redis://" + load.text("address", ""));
    RedissonClient client = Redisson.create(config);
    load.run(locks(load.text("lib", ""), client));
    client.shutdown();
  }
}
