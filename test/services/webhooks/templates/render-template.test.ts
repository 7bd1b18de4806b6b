import { array, assert, constantFrom, integer, jsonValue, property } from 'fast-check';
import { expect, test } from 'vitest';
import { renderSession, renderTemplate } from '../../../../services/webhooks/templates/render-template.ts';
import { parseProblem, parseTemplate, sizeProblem } from '../../../../services/webhooks/templates/parse-template.ts';

const MAX_STEPS = 100_000;
const VIEW = {
  event: 'pull_request',
  delivery: 'd-1',
  payload: {
    number: 7,
    title: 'Use <b> & "quotes"',
    draft: false,
    labels: [{ name: 'bug' }, { name: 'ui' }],
    matrix: [[1, 2], [3]],
    user: null,
  },
};

function render(template: string | null, view: { event: string; delivery: string; payload: unknown } = VIEW, maxBytes = 10_000): string {
  return renderTemplate(template, view, { maxBytes, maxSteps: MAX_STEPS });
}

test('names of event, delivery and payload are filled in, without HTML escapes', () => {
  expect(render('{{event}} {{delivery}} #{{payload.number}}: {{payload.title}} {{{payload.title}}} {{&payload.title}}')).toBe(
    'pull_request d-1 #7: Use <b> & "quotes" Use <b> & "quotes" Use <b> & "quotes"',
  );
});

test('sections walk lists, and see the names around them', () => {
  expect(render('{{#payload.labels}}{{name}} of {{event}}; {{/payload.labels}}{{^payload.draft}}ready{{/payload.draft}}')).toBe(
    'bug of pull_request; ui of pull_request; ready',
  );
  expect(render('{{#payload.matrix}}[{{#.}}{{.}},{{/.}}]{{/payload.matrix}} {{payload.labels.length}}')).toBe('[1,2,][3,] 2');
});

test('objects and lists are written as JSON, and what is null or missing as nothing', () => {
  expect(render('{{payload.labels}} {{{payload.matrix}}} ({{payload.user}}{{payload.nobody.name}}{{nothing}})')).toBe(
    '[{"name":"bug"},{"name":"ui"}] [[1,2],[3]] ()',
  );
});

test('without a template, and for one that renders to nothing, the prompt names the event and has the payload', () => {
  const text = `Event pull_request (delivery d-1):\n${JSON.stringify(VIEW.payload)}`;
  expect(render(null)).toBe(text);
  expect(render(' {{payload.nobody}} ')).toBe(text);
  expect(render(null, { ...VIEW, payload: 'disk full' })).toBe('Event pull_request (delivery d-1):\ndisk full');
});

test.each([
  'constructor',
  '__proto__',
  'toString',
  'payload.constructor',
  'payload.constructor.name',
  'payload.constructor.constructor',
  'payload.__proto__',
  'payload.__proto__.constructor',
  'payload.__defineGetter__',
  'payload.hasOwnProperty',
  'payload.title.constructor.name',
  'payload.title.length',
  'payload.number.__proto__.__proto__',
  'payload.labels.pop',
  'payload.labels.constructor',
])('{{%s}} reaches no prototype and calls nothing', (name) => {
  const before = structuredClone(VIEW);
  expect(render(`<{{${name}}}|{{{${name}}}}|{{#${name}}}section{{/${name}}}>`)).toBe('<||>');
  expect(VIEW).toEqual(before);
});

test('a list is not changed by names that are methods of lists', () => {
  const payload = { matrix: [[1, 2, 3]] };
  expect(render('{{#payload.matrix}}{{pop}}{{shift}}{{reverse}}{{.}}{{/payload.matrix}}', { ...VIEW, payload })).toBe('[1,2,3]');
});

test('own keys of the payload that name prototypes are data like any other', () => {
  const payload: unknown = JSON.parse('{"__proto__":{"admin":true},"constructor":"c"}');
  expect(render('{{payload.__proto__.admin}} {{payload.constructor}} {{payload.admin}}', { ...VIEW, payload })).toBe('true c ');
});

test('what a payload brings in braces is text and not a template', () => {
  expect(render('{{payload.title}}', { ...VIEW, payload: { title: '{{delivery}} {{#event}}x{{/event}}' } })).toBe(
    '{{delivery}} {{#event}}x{{/event}}',
  );
});

test('output is cut to its bound at a whole character, and says so', () => {
  const view = { ...VIEW, payload: { text: '🙂é'.repeat(1000) } };
  for (const template of [null, '{{payload.text}}', '{{payload.text}}{{payload.text}}', 'x{{payload}}']) {
    const text = render(template, view, 500);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(500);
    expect(text).toMatch(/🙂é?\n\[cut: more than 500 bytes\]$/u);
    expect(text.isWellFormed()).toBe(true);
  }
});

test('output that just fits is whole', () => {
  const view = { ...VIEW, payload: { text: 'é'.repeat(250) } };
  expect(render('{{payload.text}}', view, 500)).toBe('é'.repeat(250));
  expect(render('{{payload.text}}', view, 499)).toContain('[cut: more than 499 bytes]');
});

test('lists in lists that multiply without an end stop, whether they write or not', () => {
  const depth = 40;
  const payload = { list: Array.from({ length: 100 }, () => 'x') };
  for (const inner of ['', '{{event}}']) {
    const template = `a${'{{#payload.list}}'.repeat(depth)}${inner}${'{{/payload.list}}'.repeat(depth)}`;
    expect(render(template, { ...VIEW, payload }, 1000)).toMatch(
      /\[cut: (?:more than 1000 bytes|the template takes more than 100000 steps)\]$/u,
    );
  }
});

test('a name that is looked up at every level of nested sections counts each of them', () => {
  const template = `${'{{#payload}}'.repeat(400)}${'{{x.y.z.q}}'.repeat(300)}${'{{/payload}}'.repeat(400)}`;
  const before = process.cpuUsage();
  expect(render(template, { ...VIEW, payload: [1, 2] })).toContain('[cut: the template takes more than 100000 steps]');
  const { user, system } = process.cpuUsage(before);
  expect(user + system).toBeLessThan(2_000_000);
});

test('a template over the bounds of the configuration has a problem that names the bound', () => {
  const bounds = { maxTags: 10, maxDepth: 2 };
  expect(sizeProblem('{{a}}'.repeat(10), bounds)).toBeNull();
  expect(sizeProblem('{{a}}'.repeat(11), bounds)).toBe('expected at most 10 tags, got 11');
  expect(sizeProblem('{{#a}}{{^b}}{{#c}}{{/c}}{{/b}}{{/a}}', bounds)).toBe('expected at most 2 sections in each other, got 3');
});

test('spaces within a tag, for which the library takes the square of their number, are refused', () => {
  expect(() => parseTemplate(`{{a${' '.repeat(15_000)}b}}`)).toThrow('expected fewer than 200 spaces in a row');
});

test('a template of 1,300 nested sections renders', () => {
  const template = `${'{{#event}}'.repeat(1300)}x${'{{/event}}'.repeat(1300)}`;
  expect(renderTemplate(template, VIEW, { maxBytes: 10_000, maxSteps: 1_000_000 })).toBe('x');
});

test('a payload that is nested 200,000 deep is malformed', () => {
  const payload: unknown = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
  for (const template of [null, '{{payload}}']) {
    expect(() => render(template, { ...VIEW, payload })).toThrow(expect.objectContaining({ code: 'request.malformed' }));
  }
});

test('half a surrogate pair in the payload does not get into the input', () => {
  const payload: unknown = JSON.parse(String.raw`{"text":"\ud83d"}`);
  expect(render('a{{payload.text}}', { ...VIEW, payload })).toBe('a\uFFFD');
});

test('whatever the template and the payload, rendering ends within its bound or refuses with a code', () => {
  const piece = constantFrom(
    '{{event}}',
    '{{payload}}',
    '{{payload.a}}',
    '{{#payload}}',
    '{{/payload}}',
    '{{.}}',
    '{{a.b}}',
    '{{=<% %>=}}',
    '{{! c }}',
    'text é🙂',
  );
  assert(
    property(array(piece), jsonValue(), integer({ min: 200, max: 400 }), (pieces, payload, maxBytes) => {
      const template = pieces.join('');
      if (parseProblem(template) !== null) return;
      expect(Buffer.byteLength(render(template || null, { ...VIEW, payload }, maxBytes))).toBeLessThanOrEqual(maxBytes);
    }),
  );
});

test.each(['{{#a}}', '{{/a}}', '{{#a}}{{/b}}', '{{a', '{{=x}}', '{{> header}}', '{{#a}}{{> header}}{{/a}}'])(
  'the template %s has a problem',
  (template) => {
    expect(parseProblem(template)).toEqual(expect.any(String));
  },
);

test.each(['', 'plain', '{{a}} {{{b}}} {{&c}}', '{{#a}}x{{/a}}{{^a}}y{{/a}}', '{{! a comment }}'])(
  'the template %j has none',
  (template) => {
    expect(parseProblem(template)).toBeNull();
  },
);

test('a session is the rendered name on one line, and none when nothing is left', () => {
  expect(renderSession('pr-{{payload.number}}', VIEW, MAX_STEPS)).toBe('pr-7');
  expect(renderSession(' a\n\tb\u0000c ', VIEW, MAX_STEPS)).toBe('a b c');
  expect(renderSession('pr-\u202E7\u200B', VIEW, MAX_STEPS)).toBe('pr-7');
  expect(renderSession('{{payload.user}}', VIEW, MAX_STEPS)).toBeNull();
  expect(renderSession(null, VIEW, MAX_STEPS)).toBeNull();
});

test.each([
  ['is missing', 'pr-{{payload.pull_request.number}}'],
  ['is null', 'user-{{payload.user}}'],
  ['is an empty text', 'branch-{{payload.branch}}'],
  ['is only spaces', 'label-{{payload.blank}}'],
  ['is missing beside one that is there', '{{payload.number}}-{{payload.nobody}}'],
  ['is missing within a section', '{{#payload.labels}}{{name}}-{{colour}}{{/payload.labels}}'],
])('there is no session when a value of its template %s', (_, template) => {
  const payload = { ...VIEW.payload, branch: '', blank: ' ' };
  expect(renderSession(template, { ...VIEW, payload }, MAX_STEPS)).toBeNull();
});

test('a session may choose among values by sections, and be a plain text, 0 or false', () => {
  const template = '{{#payload.issue}}issue-{{number}}{{/payload.issue}}{{^payload.issue}}pr-{{payload.number}}{{/payload.issue}}';
  expect(renderSession(template, VIEW, MAX_STEPS)).toBe('pr-7');
  expect(renderSession(template, { ...VIEW, payload: { issue: { number: 3 } } }, MAX_STEPS)).toBe('issue-3');
  expect(renderSession('deploys', VIEW, MAX_STEPS)).toBe('deploys');
  expect(renderSession('{{payload.draft}}-{{payload.zero}}', { ...VIEW, payload: { draft: false, zero: 0 } }, MAX_STEPS)).toBe('false-0');
});

test('there is no session of a template over its steps, of which only the beginning is known', () => {
  const payload = { items: Array.from({ length: 50 }, () => 'x'), id: 7 };
  expect(renderSession('s{{#payload.items}}{{.}}{{/payload.items}}-{{payload.id}}', { ...VIEW, payload }, 50)).toBeNull();
});

test('long sessions stay apart although they are shortened to 200 characters', () => {
  const [one, two] = ['1', '2'].map((end) => renderSession('{{payload}}', { ...VIEW, payload: 'x'.repeat(300) + end }, MAX_STEPS));
  expect(one).toHaveLength(200);
  expect(two).toHaveLength(200);
  expect(one).not.toBe(two);
});
