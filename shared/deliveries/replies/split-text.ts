/** A code fence that is open: the characters that close it, and what opens it again. */
interface Fence {
  /** Where its line begins in the text; -1 for a fence that was open before. */
  at: number;
  marker: string;
  language: string;
}

/** How much of a text goes into one part. */
interface Cut {
  at: number;
  /** The fence that is open there; null outside. */
  fence: Fence | null;
}

const FENCE_LINE = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/gm;
const MAX_LANGUAGE_CHARACTERS = 40;

/**
 * Splits a text into parts of at most `maxCharacters` UTF-16 units, at the end of a paragraph, line or word where there is one. A code
 * fence moves to the next part when it fits there. A longer fence is closed at the part's end and reopened, with its language, in the next.
 * Nothing else is added, and only white space at the cuts is lost. Parts are never blank.
 *
 * What comes later in the text hardly ever changes an earlier part, so that a text that grows can be shown part by part.
 */
export function splitText(text: string, maxCharacters: number): string[] {
  const parts: string[] = [];
  let rest = text.trimEnd();
  let open: Fence | null = null;
  while (rest.trim() !== '') {
    const opening: string = open === null ? '' : `${open.marker}${open.language}\n`;
    const room: number = maxCharacters - opening.length;
    if (rest.length <= room) {
      parts.push(opening + rest);
      break;
    }
    const cut: Cut = findCut(rest, room, open);
    parts.push(opening + pieceOf(rest, cut));
    rest = restOf(rest, cut);
    open = cut.fence;
  }
  return parts.filter((part) => part.trim() !== '');
}

function pieceOf(text: string, { at, fence }: Cut): string {
  const piece = text.slice(0, at);
  if (fence === null) return piece.trimEnd();
  return `${piece.endsWith('\n') ? piece : `${piece}\n`}${fence.marker}`;
}

/** Inside a fence white space means something: only the line's end goes. Outside, the next line keeps how far it is indented. */
function restOf(text: string, { at, fence }: Cut): string {
  const rest = text.slice(at);
  const isNewLine = text[at - 1] === '\n';
  if (fence !== null) return isNewLine ? rest : rest.replace(/^\n/, '');
  return rest.replace(isNewLine ? /^\s*\n/ : /^(?:\s*\n|[^\S\n]+)/, '');
}

function findCut(text: string, room: number, open: Fence | null): Cut {
  const at = breakBefore(text, room, open === null ? 'prose' : 'code');
  const fence = fenceAt(text, at, open);
  if (fence === null) return { at, fence };
  const hasTextBefore = fence.at > 0 && text.slice(0, fence.at).trim() !== '';
  if (hasTextBefore && fitsInOnePart(text, fence, room)) return { at: fence.at, fence: null };
  return insideFence(text, room, { at, fence });
}

/**
 * A cut inside a fence leaves room for the line that closes it, and something of the fence before it. Where that cannot be, the
 * cut is before the fence, and a fence that is nothing but its first line is taken as text.
 */
function insideFence(text: string, room: number, { at, fence }: { at: number; fence: Fence }): Cut {
  const closing = fence.marker.length + 1;
  const min = fence.at < 0 ? 0 : endOfLine(text, fence.at);
  const max = Math.min(at, room - closing);
  if (max > min && closing * 2 + MAX_LANGUAGE_CHARACTERS <= room) {
    const best = [breakBefore(text, max, 'code'), lastSpace(text, max)].find((cut) => cut > min);
    return { at: best ?? characterBoundary(text, max), fence };
  }
  return fence.at > 0 ? { at: fence.at, fence: null } : { at: breakBefore(text, room, 'prose'), fence: null };
}

function fitsInOnePart(text: string, { at, marker }: Fence, room: number): boolean {
  const end = new RegExp(`^ {0,3}${marker}${marker[0]}*[^\\S\\n]*$`, 'm').exec(text.slice(endOfLine(text, at)));
  const length = end === null ? text.length - at : endOfLine(text, at) - at + end.index + end[0].length;
  return length <= room;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end + 1;
}

/** The best place to break at or before `room`: a paragraph in the second half, else a line there, else a word, else anywhere. */
function breakBefore(text: string, room: number, what: 'prose' | 'code'): number {
  const half = Math.floor(room / 2);
  const paragraph = what === 'code' ? -1 : text.lastIndexOf('\n\n', room - 1);
  if (paragraph > half) return paragraph + 1;
  const line = text.lastIndexOf('\n', room - 1);
  if (line > (what === 'code' ? 0 : half)) return line + 1;
  const word = lastSpace(text, room);
  if (word > 0) return word;
  return characterBoundary(text, room);
}

/** The same position, or the previous one when it lies inside a character. */
function characterBoundary(text: string, at: number): number {
  const unit = text.charCodeAt(at - 1);
  return at > 1 && unit >= 0xd800 && unit <= 0xdbff ? at - 1 : at;
}

/** Where the last white space at or before `room` is, such that something stands before it; 0 for none. */
function lastSpace(text: string, room: number): number {
  const first = text.length - text.trimStart().length;
  for (let at = Math.min(room, text.length - 1); at > first; at -= 1) {
    if (/\s/.test(text[at] ?? '')) return at;
  }
  return 0;
}

/** The fence that is open at `end` of a text at whose beginning `open` was. */
function fenceAt(text: string, end: number, open: Fence | null): Fence | null {
  let fence: Fence | null = open === null ? null : { ...open, at: -1 };
  for (const { index, 1: marker = '', 2: info = '' } of text.matchAll(FENCE_LINE)) {
    if (index >= end) break;
    fence = fence === null ? opened(index, marker, info) : afterLine(fence, marker, info);
  }
  return fence;
}

function opened(at: number, marker: string, info: string): Fence | null {
  // Code within a line, not a fence.
  if (marker.startsWith('`') && info.includes('`')) return null;
  return { at, marker, language: (info.trim().split(/\s/)[0] ?? '').slice(0, MAX_LANGUAGE_CHARACTERS) };
}

function afterLine(fence: Fence, marker: string, info: string): Fence | null {
  const isEnd = marker[0] === fence.marker[0] && marker.length >= fence.marker.length && info.trim() === '';
  return isEnd ? null : fence;
}
