import { expect, test } from 'vitest';
import { none } from '../../../../services/webhooks/providers/generic.ts';
import { verifyWebhook } from '../../../../services/webhooks/providers/registry.ts';
import { incoming } from './incoming.ts';

test('provider none takes a body that nobody signed', async () => {
  expect(await verifyWebhook('none', incoming('{"event":"ping"}'))).toMatchObject({ event: 'ping', delivery: null });
  expect(await verifyWebhook('none', incoming('[1]'))).toMatchObject({ event: 'unknown', payload: [1] });
  const options = none.options.schema.parse({ eventHeader: 'X-Event', deliveryHeader: 'X-Delivery' });
  const headers = { 'x-event': 'deploy', 'x-delivery': '42' };
  expect(await verifyWebhook('none', incoming('{}', { options, headers }))).toMatchObject({ event: 'deploy', delivery: '42' });
});

test.each(['', 'no json', '{', '\u0000'])('provider none refuses the body %j as malformed', async (text) => {
  await expect(verifyWebhook('none', incoming(text))).rejects.toMatchObject({ code: 'request.malformed' });
});
