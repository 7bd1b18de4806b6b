import type { RedisClient } from './connect-redis.ts';
import { assertKeys, digestOf, evaluate, readAnswer, type Script, type ScriptCall } from './script.ts';

interface GatheredCall extends ScriptCall {
  readonly script: Script;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Calls of one script: more would keep Redis from others for too long. */
const MAX_CALLS = 32;
const gathered = new WeakMap<RedisClient, GatheredCall[]>();

/**
 * Runs a script together with all others that this turn of the event loop runs so on keys of the same hash tag, one after the other in one
 * round trip. The error of one is its own.
 */
export async function runGathered(
  redis: RedisClient,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  assertKeys(script, keys);
  return await new Promise((resolve, reject) => {
    const call = { script, keys, args, resolve, reject };
    const others = gathered.get(redis);
    if (others) others.push(call);
    else {
      gathered.set(redis, [call]);
      // After everything that is ready to go on now has asked, too.
      queueMicrotask(() => process.nextTick(() => sendGathered(redis)));
    }
  });
}

function sendGathered(redis: RedisClient): void {
  const byTag = Map.groupBy(gathered.get(redis) ?? [], ({ keys }) => tagOf(keys));
  gathered.delete(redis);
  for (const calls of byTag.values())
    for (let from = 0; from < calls.length; from += MAX_CALLS) void send(redis, calls.slice(from, from + MAX_CALLS));
}

function tagOf([key = '']: readonly string[]): string {
  return key.slice(0, key.indexOf('}') + 1);
}

async function send(redis: RedisClient, calls: readonly GatheredCall[]): Promise<void> {
  try {
    const replies = await evaluateAll(redis, calls);
    for (const [at, call] of calls.entries()) {
      const reply = replies[at];
      if (reply instanceof Error) call.reject(reply);
      else call.resolve(reply);
    }
  } catch (error) {
    for (const call of calls) call.reject(error);
  }
}

async function evaluateAll(redis: RedisClient, calls: readonly GatheredCall[]): Promise<unknown[]> {
  const [only] = calls;
  if (calls.length === 1 && only) return [await evaluate(redis, only.script, only.keys, only.args)];
  const scripts = [...new Set(calls.map(({ script }) => script))].toSorted((one, other) => one.sha.localeCompare(other.sha));
  const plan = calls.map(({ script, keys, args }) => `${scripts.indexOf(script) + 1} ${keys.length} ${args.length}`).join(',');
  const keys = calls.flatMap((call) => call.keys);
  const replies = await evaluate(redis, joined(scripts), keys, [plan, ...calls.flatMap(({ args }) => args)]);
  if (!Array.isArray(replies)) throw new Error('Scripts that ran together gave no answers');
  return replies.map((reply: unknown) => readAnswer(reply));
}

/** By their digests. There are few sets of scripts that meet. */
const joinedScripts = new Map<string, Pick<Script, 'source' | 'sha'>>();

/** Scripts as functions, and the calls of them: the first argument has the number of each call's script, keys and arguments. */
function joined(scripts: readonly Script[]): Pick<Script, 'source' | 'sha'> {
  const name = scripts.map(({ sha }) => sha).join();
  const known = joinedScripts.get(name);
  if (known) return known;
  const source = `local scripts = {
${scripts.map((script) => `function(KEYS, ARGV)\n${script.source}\nend,`).join('\n')}
}
local replies, key, arg = {}, 0, 1
for number, keys, args in string.gmatch(ARGV[1], '(%d+) (%d+) (%d+)') do
  local own_keys, own_args = { unpack(KEYS, key + 1, key + keys) }, { unpack(ARGV, arg + 1, arg + args) }
  key, arg = key + keys, arg + args
  local is_done, answer = pcall(scripts[tonumber(number)], own_keys, own_args)
  if is_done then
    if answer == nil then answer = false end
    replies[#replies + 1] = { 1, answer }
  else
    replies[#replies + 1] = { 0, type(answer) == 'table' and answer.err or tostring(answer) }
  end
end
return replies
`;
  const made = { source, sha: digestOf(source) };
  joinedScripts.set(name, made);
  return made;
}
