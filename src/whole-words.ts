/** The beginning of a text, to the end of a word where that is not far: half of a credential is not known as one. */
export function wholeWords(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const end = text.lastIndexOf(' ', longest - 1);
  return end < longest / 2 ? text.slice(0, longest) : `${text.slice(0, end)}…`;
}
