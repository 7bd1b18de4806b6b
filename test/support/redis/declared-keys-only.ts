import { createHash } from 'node:crypto';
import { type RespProxy, startRespProxy } from './resp-proxy.ts';

/** How a server of this kind names an undeclared key, as its documentation says. */
export const UNDECLARED_ERRORS = {
  dragonfly: 'ERR script tried accessing undeclared key, key: ',
  tair: 'ERR bad lua script for redis cluster, all the keys that the script uses should be passed using the KEYS array: ',
} as const;

/** Before each script: `redis.call` and `redis.pcall` as a server has them that compares the key of a command with the declared ones. */
const prelude = (error: string): string => `local redis = (function(redis)
  local declared = {}
  for _, key in ipairs(KEYS) do declared[key] = true end
  local function check(command, key, ...)
    if key and not declared[key] and string.upper(command) ~= 'PUBLISH' then
      local failure = { err = '${error}' .. key }
      error(failure)
    end
  end
  local function call(...) check(...) return redis.call(...) end
  local function pcall(...) check(...) return redis.pcall(...) end
  return setmetatable({ call = call, pcall = pcall }, { __index = redis })
end)(redis)
`;

/**
 * A server that lets scripts use declared keys only, as Dragonfly does by default: the Redis at this port, whose scripts are given another
 * `redis.call`. Says which server it is by its error.
 */
export async function startDeclaredKeysOnly(port: number, kind: keyof typeof UNDECLARED_ERRORS): Promise<RespProxy> {
  const own = prelude(UNDECLARED_ERRORS[kind]);
  const digests = new Map<string, string>();
  return await startRespProxy(port, (words) => {
    const [name, script] = words.map(String);
    if (script === undefined || !/^eval(sha)?$/i.test(name ?? '')) return { words };
    const source = /^evalsha$/i.test(name ?? '') ? undefined : `${own}${script}`;
    if (source !== undefined) digests.set(digestOf(script), digestOf(source));
    const sent = source ?? digests.get(script) ?? script;
    return { words: [...words.slice(0, 1), Buffer.from(sent), ...words.slice(2)] };
  });
}

function digestOf(source: string): string {
  return createHash('sha1').update(source).digest('hex');
}
