import { z } from 'zod';

const LOGIN = String.raw`(?:(?<login>(?:[^@/\s%]|%[0-9a-fA-F]{2})*)@)?`;
const NODE = String.raw`(?:\[[0-9a-fA-F:.]+\]|[^@/?#,:[\]\s]+)(?::\d{1,5})?`;

/**
 * The forms of a complete `REDIS_URL`, so that a typing error is refused and never read as the address of another Redis. Special
 * characters of a name or password are percent-encoded.
 *
 * - `redis[s]://[user:password@]host[:port][/db]`
 * - `redis[s]+sentinel://[user:password@]h1:p1,h2:p2[/master[/db]]`
 * - `redis[s]+cluster://[user:password@]h1:p1,h2:p2`
 * - `unix:///path/redis.sock[?db=1]`
 */
export const REDIS_URL_FORM: Readonly<Record<'single' | 'sentinel' | 'cluster' | 'unix', RegExp>> = {
  single: new RegExp(String.raw`^redis(?<tls>s?)://${LOGIN}(?<nodes>${NODE})(?:/(?<db>\d*))?(?:\?\S*)?$`),
  sentinel: new RegExp(
    String.raw`^redis(?<tls>s?)\+sentinel://${LOGIN}(?<nodes>${NODE}(?:,${NODE})*)(?:/(?<master>[^/?\s]*)(?:/(?<db>\d*))?)?$`,
  ),
  cluster: new RegExp(String.raw`^redis(?<tls>s?)\+cluster://${LOGIN}(?<nodes>${NODE}(?:,${NODE})*)/?$`),
  unix: /^unix:\/\/(?<path>\/[^?\s]+)(?:\?db=(?<db>\d+))?$/,
};

const FORMS_TEXT =
  'redis[s]://[user:password@]host[:port][/db], redis[s]+sentinel://, redis[s]+cluster:// or unix:///path, with special characters as %XX';

export const redisUrlSchema = z
  .string()
  .refine((url) => Object.values(REDIS_URL_FORM).some((form) => form.test(url)), `expected ${FORMS_TEXT}`);
