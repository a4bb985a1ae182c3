// SPDX-License-Identifier: Apache-2.0

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} content
 */
export function element(tag, attributes, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}
