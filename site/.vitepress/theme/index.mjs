import { onContentUpdated } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { onMounted } from 'vue';
import { foldLongPage, unfoldTarget } from './fold-sections.mjs';
import './style.css';

export default {
  extends: DefaultTheme,
  setup() {
    onContentUpdated(foldLongPage);
    onMounted(() => {
      addEventListener('hashchange', unfoldTarget);
      // A link to a section that is open in the address already changes nothing there.
      addEventListener('click', ({ target }) => target.closest?.('a[href*="#"]') && setTimeout(unfoldTarget));
    });
  },
};
