import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { htmlToText } from './html-to-text.ts'

const base = new URL('https://example.com/docs/page.html')
const text = (html: string) => htmlToText(html, base, 100_000)

test('[MUS-267] a page becomes text with headings, lists, links, tables and code', () => {
  const html = `<!doctype html><html><head><title>The &amp; title</title>
    <style>p { color: red }</style><script>if (a < b) document.write("<p>no</p>")</script></head>
    <body><!-- <p>no</p> --><nav><a href="#top">Top</a></nav>
    <h1>One  <em>big</em>
    thing</h1><p>Text with a <a href="../x?a=1&amp;b=(2)">link</a>, <b>bold</b>&nbsp;and &#8364;&#x20AC;.<br>Next line</p>
    <ul><li>first<li><a href='javascript:alert(1)'>second</a></ul>
    <pre><code>a  &lt; b
    c</code></pre>
    <table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>
    <p>Use <code>npm test</code>. <img src=x alt="A picture"><a href="/icon"><svg><text>no</text></svg></a></p>
    <SCRIPT >no</SCRIPT><p title="a > b">end`
  expect(text(html)).toBe(
    [
      'The & title',
      'Top',
      '',
      '# One big thing',
      '',
      'Text with a [link](https://example.com/x?a=1&b=%282%29), bold and €€.',
      'Next line',
      '',
      '- first',
      '- second',
      '',
      '```',
      'a  < b',
      '    c',
      '```',
      '',
      '| k | v',
      '| 1 | 2',
      '',
      'Use `npm test`. A picture',
      '',
      'end',
    ].join('\n'),
  )
})

test.each([
  ['a < b and c <3 d', 'a < b and c <3 d'],
  ['<p>never closed <b', 'never closed'],
  ['<script>never closed', ''],
  ['<!-- never closed', ''],
  ['<p a="never closed>x', ''],
  ['&#0; &#xD800; &#1114112; &unknown; &constructor;', '\uFFFD \uFFFD \uFFFD &unknown; &constructor;'],
  ['<scripty>kept</scripty>', 'kept'],
  ['<div></div>', ''],
])('[MUS-267] broken markup breaks nothing: %s', (html, expected) => {
  expect(text(html)).toBe(expected)
})

test('[MUS-267] whatever a page holds, scripts stay out', () => {
  const whole = [
    '<p>',
    '</p>',
    '<a href="/x">',
    '</a>',
    '<pre>',
    '</pre>',
    '&lt;',
    ' ',
    'word',
    '<!---->',
    '<li>',
    '<td>',
    '>',
  ]
  const piece = fc.constantFrom(...whole, '<', '"', "'", '<!--', '-->', '</')
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...whole)), fc.array(piece), (before, after) => {
      const html = `${before.join('')}<script>SECRET</script>${after.join('')}`
      expect(text(html)).not.toContain('SECRET')
    }),
  )
})

test.each([
  '<',
  '<a ',
  '<!--',
  '<script>',
  '<p x="',
  '&',
  '<a href="',
  '</',
  '<pre>',
  '[](',
  '<b>',
  '<li>',
  '<p>x',
  'x',
])('[MUS-267] five megabytes of %s give no more than is wanted', (piece) => {
  expect(text(piece.repeat((5 << 20) / piece.length)).length).toBeLessThan(300_000)
})
