import type { RedisClient } from './connect-redis.ts';
import { assertKeys, digestOf, evaluate, readAnswer, type Script, type ScriptCall } from './script.ts';

const together = new WeakMap<Script, Pick<Script, 'source' | 'sha'>>();

/**
 * Runs calls of one script in one round trip, one after the other: many small calls cost Redis and this process mostly for being calls.
 * All keys are of one hash tag. Answers in order; the error of one call is its own. `common` goes to the script's function `begin_calls`,
 * and what its `end_calls` returns is `end`. What all calls have in the same place is sent once.
 */
export async function runTogether(
  redis: RedisClient,
  script: Script,
  calls: readonly ScriptCall[],
  common: string,
): Promise<{ replies: unknown[]; end: unknown }> {
  for (const { keys } of calls) assertKeys(script, keys);
  const joined = together.get(script) ?? joinCalls(script);
  together.set(script, joined);
  const [keys, args] = [share(calls.map((call) => call.keys)), share(calls.map((call) => call.args))];
  const counts = calls.map((_, call) => `${keys.counts[call]} ${args.counts[call]}`).join(',');
  const replies = await evaluate(redis, joined, keys.values, [counts, common, keys.plan, args.plan, ...args.values]);
  if (!Array.isArray(replies)) throw new Error(`${script.name} gave no answers`);
  const answers = replies.map((reply: unknown) => readAnswer(reply));
  const end = answers.pop();
  if (end instanceof Error) throw end;
  return { replies: answers, end };
}

/** Places from the first one on that are compared: the calls of many tenants with one task each have few. */
const MAX_PLACES = 40;

/** Keys or arguments of calls as they are sent: the first places of the first call, then of each call what differs there, and the rest. */
interface Shared<Value> {
  /** How many places are compared, and which of them differ, from 1 on. */
  plan: string;
  /** Of each call, values that follow what is sent once. */
  counts: number[];
  values: Value[];
}

function share<Value extends string | number>(lists: readonly (readonly Value[])[]): Shared<Value> {
  const [first = []] = lists;
  const places = lists.reduce((least, { length }) => Math.min(least, length), MAX_PLACES);
  const isOwn = Array.from({ length: places }, (_, place) => lists.some((list) => list[place] !== first[place]));
  const own = [...isOwn.keys()].filter((place) => isOwn[place]);
  const parts = lists.map((list) => list.filter((_, place) => isOwn[place] ?? true));
  const values = first.slice(0, places).concat(...parts);
  const counts = lists.map(({ length }) => own.length + length - places);
  return { plan: [places, ...own.map((place) => place + 1)].join(' '), counts, values };
}

/**
 * The script as a function of its inputs, and its calls: the first argument counts what the keys and arguments of each call have besides what
 * is sent once, and the third and fourth say what that is. What the script includes defines `begin_calls` and `end_calls`.
 */
function joinCalls({ source, preludeLength }: Script): Pick<Script, 'source' | 'sha'> {
  const joined = `${source.slice(0, preludeLength)}
local function run_call(KEYS, ARGV)
${source.slice(preludeLength)}
end
-- Returns a function that returns the values of the next call, of which so many are its own.
local function reader(values, from, plan)
  local own = {}
  for place in string.gmatch(plan, '%d+') do own[#own + 1] = tonumber(place) end
  local places = table.remove(own, 1)
  local shared, at = { unpack(values, from + 1, from + places) }, from + places
  return function(count)
    local first, rest, read = at, count - #own, nil
    at = at + count
    if rest == 0 then
      read = { unpack(shared) }
    elseif places + rest <= 4000 then
      -- As much as Lua passes at once, several times as fast as one by one: the rest, behind as many others as there are places.
      read = { unpack(values, at - rest - places + 1, at) }
      for place = 1, places do read[place] = shared[place] end
    else
      read = { unpack(shared) }
      for position = 1, rest do read[places + position] = values[at - rest + position] end
    end
    for position, place in ipairs(own) do read[place] = values[first + position] end
    return read
  end
end
local function run(call, ...)
  local is_done, answer = pcall(call, ...)
  if is_done then return { 1, answer } end
  return { 0, type(answer) == 'table' and answer.err or tostring(answer) }
end
begin_calls(ARGV[2])
local replies, next_keys, next_args = {}, reader(KEYS, 0, ARGV[3]), reader(ARGV, 4, ARGV[4])
for keys, args in string.gmatch(ARGV[1], '(%d+) (%d+)') do
  replies[#replies + 1] = run(run_call, next_keys(tonumber(keys)), next_args(tonumber(args)))
end
replies[#replies + 1] = run(end_calls)
return replies
`;
  return { source: joined, sha: digestOf(joined) };
}
