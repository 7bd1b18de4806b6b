import { Command } from 'ioredis';
import type { RedisClient } from './connect-redis.ts';

/**
 * Sends a command at once and by itself, for calls that were gathered already. What the client gathers in a pipeline of its own
 * accord waits until the pipeline before it is answered, so that Redis and this process would work by turns.
 */
export async function sendCommand(redis: RedisClient, name: string, args: (string | number)[]): Promise<unknown> {
  const command = new Command(name, args, { replyEncoding: 'utf8' });
  void redis.sendCommand(command);
  return await command.promise;
}
