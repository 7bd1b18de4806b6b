/** A time as the server writes it within sentences, `2026-05-01 09:00:00 UTC`, or as ISO 8601 in UTC in older ones. */
const TIME = /\b(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,3})?)(?:Z| UTC)\b/g;

/** A part of a sentence: text, or a time as ISO. */
export type SentencePart = string | { readonly at: string };

/** A sentence of the server, cut at its times; what is no time of a calendar stays text. */
export function splitAtTimes(text: string): SentencePart[] {
  const parts: SentencePart[] = [];
  let end = 0;
  for (const match of text.matchAll(TIME)) {
    const at = `${match[1]}T${match[2]}Z`;
    if (Number.isNaN(Date.parse(at))) continue;
    parts.push(text.slice(end, match.index), { at });
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)].filter((part) => part !== '');
}

/** Whether a sentence says a time, to the second. */
export function saysTime(text: string, at: string): boolean {
  return splitAtTimes(text).some((part) => typeof part !== 'string' && secondOf(part.at) === secondOf(at));
}

function secondOf(iso: string): number {
  return Math.floor(Date.parse(iso) / 1000);
}
