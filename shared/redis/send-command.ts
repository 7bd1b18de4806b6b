import { Command } from 'ioredis';
import { LATE, within } from '../time/wait.ts';
import { COMMAND_TIMEOUT_MS, type RedisClient } from './connect-redis.ts';

/**
 * Sends a command at once and by itself, for calls that were gathered already. What the client gathers in a pipeline of its own
 * accord waits until the pipeline before it is answered, so that Redis and this process would work by turns.
 */
export async function sendCommand(redis: RedisClient, name: string, args: (string | number)[]): Promise<unknown> {
  const command = new Command(name, args, { replyEncoding: 'utf8' });
  void redis.sendCommand(command);
  return await inTime(redis, command.promise);
}

/** A cluster's client waits for a map of the slots for as long as it takes, whatever its command timeout says. */
async function inTime(redis: RedisClient, call: Promise<unknown>): Promise<unknown> {
  if (!redis.isCluster) return await call;
  const reply = await within(call, COMMAND_TIMEOUT_MS);
  if (reply === LATE) throw new Error('Command timed out');
  return reply;
}
