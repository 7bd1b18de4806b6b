import { expect, test } from 'vitest';
import { createSendOnce, type SendOnce } from '../../../../../../services/dashboard/console/parts/actions/send-once.ts';

let keys = 0;
let time = 0;
const newKey = (): string => {
  keys += 1;
  return `key-${keys}`;
};
const now = (): number => time;
const keyOf = (send: SendOnce, content: string): Promise<string> => send(content, (key) => Promise.resolve(key));

/** The key of a request whose answer was lost. */
async function losingKeyOf(send: SendOnce, content: string): Promise<string> {
  let sent = '';
  const lost = send(content, (key) => {
    sent = key;
    return Promise.reject(new TypeError('Failed to fetch'));
  });
  await expect(lost).rejects.toThrow('Failed to fetch');
  return sent;
}

test('a request whose answer was lost is repeated under its key, until it is answered', async () => {
  const send = createSendOnce({ newKey });
  const key = await losingKeyOf(send, 'a');
  expect(await losingKeyOf(send, 'a')).toBe(key);
  expect(await keyOf(send, 'a')).toBe(key);
  expect(await keyOf(send, 'a')).not.toBe(key);
});

test('another content has another key, and so has another form', async () => {
  const send = createSendOnce({ newKey });
  const key = await losingKeyOf(send, 'a');
  expect(await keyOf(createSendOnce({ newKey }), 'a')).not.toBe(key);
  expect(await losingKeyOf(send, 'b')).not.toBe(key);
});

test('a key is used again within its time only', async () => {
  const send = createSendOnce({ newKey, withinMs: 1000, now });
  const key = await losingKeyOf(send, 'a');
  time += 999;
  expect(await losingKeyOf(send, 'a')).toBe(key);
  time += 1000;
  expect(await keyOf(send, 'a')).not.toBe(key);
});
