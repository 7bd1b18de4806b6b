import { expect, test } from 'vitest';
import { verifyWebhook } from '../../../../services/webhooks/providers/registry.ts';
import { incoming } from './incoming.ts';

const SECRET = 'a token of GitLab';
const HEADERS = { 'x-gitlab-token': SECRET, 'x-gitlab-event': 'Merge Request Hook', 'idempotency-key': 'f5e5f430' };
const TEXT = '{"object_kind":"merge_request","object_attributes":{"iid":7,"action":"open"}}';

test('a webhook with the token is taken with its event, its finer type and its delivery', async () => {
  const outcome = await verifyWebhook('gitlab', incoming(TEXT, { secret: SECRET, headers: HEADERS }));
  expect(outcome).toMatchObject({
    kind: 'event',
    event: 'Merge Request Hook',
    eventType: 'merge_request.open',
    delivery: 'f5e5f430',
    payload: JSON.parse(TEXT),
  });
});

test.each([
  ['is missing', undefined],
  ['is empty', ''],
  ['is another', 'another token'],
  ['is cut', SECRET.slice(0, -1)],
  ['has more after it', `${SECRET}x`],
  ['is in other letters', SECRET.toUpperCase()],
  ['is not ASCII', 'é'.repeat(64)],
  ['is huge', 'x'.repeat(1_000_000)],
])('a token that %s is refused', async (_, token) => {
  const request = incoming(TEXT, { secret: SECRET, headers: { ...HEADERS, 'x-gitlab-token': token } });
  await expect(verifyWebhook('gitlab', request)).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test('the token is checked before the body is read', async () => {
  const request = incoming('no json', { secret: SECRET, headers: { ...HEADERS, 'x-gitlab-token': 'another' } });
  await expect(verifyWebhook('gitlab', request)).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test.each([
  ['the kind of a push', 'Push Hook', '{"object_kind":"push","event_name":"push"}', 'push'],
  ['the name of an event of the whole installation', 'System Hook', '{"event_name":"project_create"}', 'project_create'],
  ['the header, when the payload says neither', 'Tag Push Hook', '{}', 'tag_push'],
])('the event type is %s', async (_, event, text, eventType) => {
  const request = incoming(text, { secret: SECRET, headers: { ...HEADERS, 'x-gitlab-event': event } });
  expect(await verifyWebhook('gitlab', request)).toMatchObject({ event, eventType });
});

test('without an idempotency key the delivery is null, whatever the event id, which hooks that set each other off share', async () => {
  const headers = { ...HEADERS, 'idempotency-key': undefined, 'x-gitlab-event-uuid': '13792a34' };
  expect(await verifyWebhook('gitlab', incoming(TEXT, { secret: SECRET, headers }))).toMatchObject({ delivery: null });
});

test.each([
  ['no event', TEXT, { 'x-gitlab-event': '' }],
  ['an event of 201 characters', TEXT, { 'x-gitlab-event': 'e'.repeat(201) }],
  ['a delivery id of 201 characters', TEXT, { 'idempotency-key': 'd'.repeat(201) }],
  ['an empty body', '', {}],
  ['a body that is not JSON', '<xml/>', {}],
])('a webhook with %s is malformed', async (_, text, headers) => {
  const request = incoming(text, { secret: SECRET, headers: { ...HEADERS, ...headers } });
  await expect(verifyWebhook('gitlab', request)).rejects.toMatchObject({ code: 'request.malformed' });
});
