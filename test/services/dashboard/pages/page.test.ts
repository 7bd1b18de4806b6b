import { expect, test } from 'vitest';
import { html } from '../../../../services/dashboard/pages/page.ts';

test('values are escaped, in text and in attributes, also inside lists', () => {
  const evil = `<script>"&'`;
  expect(html`<p title="${evil}">${[evil, 1]}</p>`.text).toBe(
    '<p title="&lt;script&gt;&quot;&amp;&#39;">&lt;script&gt;&quot;&amp;&#39;1</p>',
  );
});

test('HTML goes into HTML as it is, and nothing stands for null and undefined', () => {
  const items = ['a', 'b'].map((item) => html`<i>${item}</i>`);
  expect(html`<p>${items}${null}${undefined}</p>`.text).toBe('<p><i>a</i><i>b</i></p>');
});
