// Words as the demo model compares them: lower case, stemmed, without stop words.
const stopWords = new Set(
  (
    'a about above after again all also am an and any are as ask at be because been before but by can could current day did do does doing don each else ' +
    'ever few for from get give go had has have he hello help her here hey hi him his how i if in into is it its just know let like long make may me ' +
    'more most much must my name need no not now of off on once one only or other our out over own please right run same say see she should show ' +
    'so some such take tell than thank thanks that the their them then there these they this those through to too try under until up use used user ' +
    'uses using very want was way we well were what when where which while who why will with without word would yes you your tool call called ' +
    'return returns given answer answers every first last second seconds minute minutes number numbers'
  ).split(' '),
);

/** Words that carry meaning, stemmed, in order. */
export function contentWords(text: string): readonly string[] {
  const words = text.toLowerCase().match(/\p{L}[\p{L}\p{N}]*/gu) ?? [];
  return words.filter((word) => word.length > 1 && !stopWords.has(word)).map(stem);
}

/** The words of a tool's name: `slow_job`, `slow-job` and `slowJob` are two words each. */
export function nameWords(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z\d]+/)
    .filter((word) => word.length > 1)
    .map((word) => stem(word.toLowerCase()));
}

function stem(word: string): string {
  for (const ending of ['ings', 'ing', 'ers', 'ies', 'es', 'ed', 'er', 's', 'e']) {
    if (word.length - ending.length >= 3 && word.endsWith(ending)) return word.slice(0, -ending.length);
  }
  return word;
}
